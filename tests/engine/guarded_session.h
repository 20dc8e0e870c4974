// A session of any bundle that finds out what leaves its place: every block ends at a page that nothing may touch, inputs
// cannot be written, and what lies between tensors is looked at after each run.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "tests/engine/engine_fixture.h"
#include "tests/support/guarded_block.h"

namespace ingot::test {

// Writes the elements of a tensor.
using Fill = std::function<void(const ingot_tensor_info& tensor, std::byte* data)>;

// Floats in [-1, 1], integers in [0, 2].
Fill ordinary_values();

// Values that a stranger would choose: of one kind (no indices, no numbers, the largest there are), or of any.
constexpr int kHostileKinds = 10;
Fill hostile_values(int kind);

class GuardedSession {
 public:
  GuardedSession(const OpenBundle& bundle, uint32_t threads);
  ~GuardedSession() { ingot_destroy(session_); }
  GuardedSession(const GuardedSession&) = delete;
  GuardedSession& operator=(const GuardedSession&) = delete;

  // Gives values to all states, and to the inputs of an entry.
  void fill(uint32_t entry, const Fill& fill);

  // Runs an entry that was filled. False: it came to no end, as loops may that a stranger bounds.
  bool run(uint32_t entry);

  // All outputs of the entry and all state, of which nothing but tensors was written.
  std::string results(uint32_t entry) const;

  uint32_t entry_count() const { return static_cast<uint32_t>(entries_.size()); }

 private:
  struct Port {
    explicit Port(const ingot_tensor_info& info) : tensor(info), block(info.bytes) {}
    ingot_tensor_info tensor;
    GuardedBlock block;
  };
  struct Entry {
    std::deque<Port> inputs, outputs;
  };

  ingot_bundle* bundle_;
  GuardedBlock instance_, arena_, state_, scratch_;
  std::vector<ingot_tensor_info> states_;
  std::vector<Entry> entries_;
  ingot_session* session_ = nullptr;
};

// The bundles in the folder INGOT_BUNDLES, or those of earlier versions beside this file, each for every target that
// this processor can run.
struct NamedBundle {
  std::string path, target;
};
std::vector<NamedBundle> bundles_to_run();

}  // namespace ingot::test
