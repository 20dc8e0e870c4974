// Plans with loops and branches, made by hand: a builder that knows where jumps go and how long buffers live.
//
//   flow(x u32[64], n u32) -> y u32[4,64]     with a state "runs", u32
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "tests/engine/engine_fixture.h"
#include "tests/engine/engine_kernels.h"

namespace ingot::test {

enum FlowKernel : uint32_t { kMixTogether, kMixAlone, kIsBelow, kAdvance, kClear, kPick, kIsOdd };

using MixVector = std::array<uint32_t, kMixElements>;
using MixVectors = std::array<MixVector, 4>;

// What the mixing kernels compute.
MixVector mixed(const MixVector& a, const MixVector& b);

class FlowBuilder {
 public:
  using Part = std::function<void()>;

  static bundle::Operand x() { return {INGOT_BASE_IO, 0, 0}; }
  static bundle::Operand n() { return {INGOT_BASE_IO + 1, 0, 0}; }
  static bundle::Operand y(uint32_t row) { return {INGOT_BASE_IO + 2, row * sizeof(MixVector), 0}; }
  static bundle::Operand runs() { return {INGOT_BASE_STATE, 0, 0}; }
  // A constant word, 0 .. 15.
  static bundle::Operand constant(uint32_t value) { return {INGOT_BASE_RODATA, 64 * value, 0}; }

  // Of the arena. It lives from its first use to its last, and through loops as it must.
  bundle::Operand buffer(uint64_t bytes);
  bundle::Operand vector() { return buffer(sizeof(MixVector)); }
  bundle::Operand word() { return buffer(4); }
  bundle::Operand flag() { return buffer(1); }

  void step(uint32_t kernel, const std::vector<bundle::Operand>& operands, bool barrier = true);

  // while (condition, then flag == 1) body
  void loop(const Part& condition, const bundle::Operand& flag, const Part& body);

  // for (word = 0; word < limit; ++word) body; its condition and counting are steps of one task
  void count_to(const bundle::Operand& limit, const Part& body);

  // Branch 0, 1, ... by the word; the last for all other values.
  void choose(const bundle::Operand& word, const std::vector<Part>& branches);

  // The first if the flag is 1, else the second.
  void choose_by_flag(const bundle::Operand& flag, const Part& then, const Part& otherwise);

  uint32_t step_count() const { return static_cast<uint32_t>(plan_.steps.size()); }

  // Places the buffers, first fit.
  bundle::BundleSpec finish();

 private:
  void use(const bundle::Operand& operand);
  uint32_t jump_unless(uint32_t value, const bundle::Operand& operand, bool word);
  uint32_t jump(uint32_t target);
  void come_to(uint32_t jump);  // the jump leads here
  void choose_from(uint32_t first_value, const bundle::Operand& operand, bool word, const std::vector<Part>& branches);

  bundle::Plan plan_;
  std::vector<std::vector<uint32_t>> uses_;  // of each buffer: the steps that touch it
  bool barrier_next_ = false;
};

// Memory of the program's inputs and outputs, bound to a session.
struct FlowPorts {
  explicit FlowPorts(ingot_session* session, uint32_t n_value = 0);
  MixVectors result() const;
  Block x{sizeof(MixVector)}, n{4}, y{sizeof(MixVectors)};
};

// What x holds.
MixVector flow_input();

// The result of one run. Reports failures.
MixVectors run_flow(const OpenBundle& bundle, uint32_t threads, uint32_t n, ingot_metrics* metrics = nullptr);

}  // namespace ingot::test
