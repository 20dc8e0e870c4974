// A limit for the memory of a run, as a contract: arena and scratch of an entry point fit, or there is no program.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "aot/base/error.h"
#include "aot/graph/graph.h"
#include "aot/loops/target.h"
#include "aot/lowered/lowered.h"
#include "aot/plan/plan.h"

namespace ingot {

constexpr int64_t kLeastBytes = -1;  // a limit that is the least that is reached

// What --memory-limit says.
struct MemoryLimit {
  std::string entry;  // empty: every entry point for which there is no other
  int64_t bytes = 0;  // or kLeastBytes
};

// The limit of an entry point, if it has one.
std::optional<int64_t> limit_of(const std::vector<MemoryLimit>& limits, const std::string& entry);

// An Error names the first limit that is for none of `entries`, or for one that has a limit already.
void check_limits(const std::vector<MemoryLimit>& limits, const std::vector<Function*>& entries);

// The user's error that a limit is too small.
class OverMemoryLimit : public Error {
 public:
  OverMemoryLimit(const Function& entry, int64_t bytes, const std::string& message);
  OverMemoryLimit(const OverMemoryLimit& error, const std::string& more);  // with more to say

  const std::string& entry() const { return entry_; }
  int64_t bytes() const { return bytes_; }  // the least of arena and scratch that was reached

 private:
  std::string entry_;
  int64_t bytes_;
};

// What it took to meet a limit: what --explain=memory prints.
struct MemoryNote {
  struct Again {
    Location location;
    std::string kernel;
    int times;
    double ns;  // predicted, of one time
  };
  std::string entry, target;
  int64_t limit_bytes = 0;      // or kLeastBytes
  int64_t bytes = 0;            // of arena and scratch of one thread
  int64_t unlimited_bytes = 0;  // ... as they would be without the limit
  double once_ns = 0;           // predicted, of all kernels, each once
  std::vector<Again> again;

  int runs_again() const;
  double again_ns() const;
  double again_share() const { return once_ns > 0 ? again_ns() / once_ns : 0; }
};
std::string to_string(const std::vector<MemoryNote>& notes);

using MakePlan = std::function<plan::Plan(const lowered::Function&)>;

// The plan of `function`, which is what `entry` was lowered to and is ready to be planned. Where its arena and the
// scratch of one thread take more than `limit_bytes`, or it is kLeastBytes, kernels run again for what is read late
// instead of keeping it, of which `function` then says. It changes no bit of any result. Throws OverMemoryLimit, which says what the least is
// that was reached, and what holds it.
plan::Plan plan_within(int64_t limit_bytes, lowered::Function& function, const Function& entry,
                       const loops::Target& target, const MakePlan& make_plan, std::vector<MemoryNote>& notes);

}  // namespace ingot
