// The reference: what a function means, op by op, in f64 and exact integers. The judge of everything else.
#pragma once

#include <functional>
#include <span>

#include "aot/graph/graph.h"
#include "aot/graph/tensor.h"

namespace ingot {

struct EvaluateOptions {
  bool round = true;  // round every op's float results to its dtype; false keeps f64 throughout (finite differences)
  // Sums inside an op (reduce, dot_general, ...) round after each step, as a machine does that computes one after the
  // other, instead of once at the end: what the expected values of conformance programs were computed with.
  bool round_partial_sums = false;
  // Sees what each op gives for its inputs, before it is rounded, and may change it.
  std::function<void(const Op& op, std::span<const RefTensor> inputs, std::vector<RefTensor>& results)> adjust = {};
};

// The results of `function` for one tensor an argument.
// Throws when an op has no definition or an argument's type is wrong.
std::vector<RefTensor> evaluate(const Function& function, std::vector<RefTensor> arguments,
                                const EvaluateOptions& = {});

// One op on given inputs.
std::vector<RefTensor> evaluate(const Op& op, std::span<const RefTensor> inputs, const EvaluateOptions& = {});

}  // namespace ingot
