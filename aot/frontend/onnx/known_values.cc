#include "aot/frontend/onnx/known_values.h"

#include <algorithm>

#include "aot/graph/evaluate.h"
#include "aot/ops/ops.h"

namespace ingot::onnx {
namespace {

constexpr int64_t kKnownElementsMax = int64_t{1} << 20;

// Also of shapes whose product would not fit a number.
bool is_small(const TensorType& type) {
  int64_t elements = 1;
  for (const int64_t size : type.shape) {
    if (size < 0 || size > kKnownElementsMax) return false;
    elements *= size;
    if (elements > kKnownElementsMax) return false;
  }
  return true;
}

bool may_evaluate(const Op& op) {
  return op.def->evaluate && !op.def->has_side_effect && !op.def->is_terminator &&
         std::ranges::all_of(op.results, [&](const auto& result) { return is_small(result->type); }) &&
         std::ranges::all_of(op.operands, [&](const Value* operand) { return is_small(operand->type); }) &&
         std::ranges::all_of(op.regions, [](const auto& region) { return captured_values(*region).empty(); });
}

}  // namespace

// Whether there is an answer; an argument's is found at once.
bool KnownValues::is_ready(const Value* value) {
  if (values_.contains(value)) return true;
  if (value->op) return false;
  const LiteralRef literal = outside_(value);
  values_[value] = literal && is_small(literal->type) ? std::optional(from_literal(*literal)) : std::nullopt;
  return true;
}

void KnownValues::evaluate_op(const Op& op) {
  std::vector<RefTensor> inputs, results;
  bool is_known = may_evaluate(op);
  for (const Value* operand : op.operands) {
    const std::optional<RefTensor>& value = values_.at(operand);
    is_known = is_known && value;
    if (is_known) inputs.push_back(*value);
  }
  if (is_known) results = evaluate(op, inputs);
  for (size_t i = 0; i < op.results.size(); ++i) {
    values_[op.results[i].get()] = is_known ? std::optional(std::move(results[i])) : std::nullopt;
  }
}

// Depth first, by a stack of its own: chains of ops are as long as a model makes them.
std::optional<RefTensor> KnownValues::find(const Value* value) {
  std::vector<const Value*> stack{value};
  while (!stack.empty()) {
    const Value* top = stack.back();
    if (is_ready(top)) {
      stack.pop_back();
      continue;
    }
    const size_t before = stack.size();
    for (const Value* operand : top->op->operands) {
      if (!is_ready(operand)) stack.push_back(operand);
    }
    if (stack.size() == before) evaluate_op(*top->op);
  }
  return values_.at(value);
}

}  // namespace ingot::onnx
