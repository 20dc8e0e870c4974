#include "aot/passes/winograd/constant_weights.h"

#include <algorithm>

#include "aot/analysis/walk.h"
#include "aot/graph/evaluate.h"
#include "aot/ops/support/build.h"

namespace ingot::winograd {
namespace {

bool is_constant(const Value* value) {
  if (!value->op || !value->op->is(kKernel)) return constant_of(value) != nullptr;
  const Values& operands = value->op->operands;
  return !operands.empty() && std::ranges::all_of(operands, [](const Value* operand) { return is_constant(operand); });
}

LiteralRef literal_of(const Value* value) {
  if (LiteralRef literal = constant_of(value)) return literal;
  std::vector<RefTensor> inputs;
  for (const Value* operand : value->op->operands) inputs.push_back(from_literal(*literal_of(operand)));
  return to_literal(evaluate(*value->op, inputs)[value->index]);
}

}  // namespace

bool is_constant(const Op& kernel, const Value* value) {
  if (!value->op) return is_constant(kernel.operand(value->index));
  const auto is_of_kernel = [&](const Value* operand) { return is_constant(kernel, operand); };
  return std::ranges::all_of(value->op->operands, is_of_kernel);
}

Value* folded(Value* made) {
  if (!is_constant(made)) return made;
  GraphBuilder b;
  b.location = made->location;
  b.before(*made->op);
  return ops::constant(b, literal_of(made));
}

}  // namespace ingot::winograd
