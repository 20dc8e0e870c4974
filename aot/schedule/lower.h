// From one fused kernel of the graph to loops.
//
// After the `fuse` pass a function is a list of `ingot.kernel` ops (and constants). `lower` picks a template by the
// kernel's root op and builds one loops kernel, or a few that run one after the other (partial results of a large
// reduction, then their combination).
#pragma once

#include <string>
#include <vector>

#include "aot/graph/graph.h"
#include "aot/loops/loop.h"
#include "aot/loops/target.h"

namespace ingot {

// What a loops kernel's buffer is bound to.
struct KernelBinding {
  enum class Kind : uint8_t { kOperand, kResult, kTemporary };
  Kind kind;
  int index;  // the ingot.kernel op's operand or result, or Lowering::temporaries
  // Of a result: the kernel writes only some of it, over what an earlier step wrote, or over the input that its buffer
  // may alias; the plan gives both one place.
  bool is_update = false;
};

struct LoweredKernel {
  loops::Kernel kernel;
  std::vector<KernelBinding> bindings;  // one for each input and output buffer, in their order
};

struct Lowering {
  std::vector<LoweredKernel> steps;  // each needs all before it
  // So many of the first steps read loop-invariant operands only: the plan runs them once, before the loop.
  int hoistable_steps = 0;
  std::vector<TensorType> temporaries;  // buffers between the steps
  std::vector<std::string> choices;     // what templates chose and how, for people
};

struct LowerOptions {
  // Which of its candidates a contraction takes, by predicted time: 0 is the best. Others are for measurements.
  int contraction_rank = 0;
};

// `kernel` is an ingot.kernel op. The result depends on its text, the target and the options alone.
Lowering lower(const Op& kernel, const loops::Target& target, const LowerOptions& options = {});

}  // namespace ingot
