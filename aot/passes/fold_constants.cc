#include <algorithm>
#include <cmath>

#include "aot/analysis/walk.h"
#include "aot/graph/builder.h"
#include "aot/graph/evaluate.h"
#include "aot/ops/ops.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

bool has_nan(const RefTensor& tensor) {
  return std::any_of(tensor.f.begin(), tensor.f.end(), [](double x) { return std::isnan(x); });
}

bool may_fold(const Op& op) {
  return op.def->evaluate && !op.def->is_terminator && !op.def->has_side_effect && !op.operands.empty() &&
         op.def->root != KernelRoot::kNone && !is_control_flow(op) &&
         std::ranges::all_of(op.regions, [](const auto& region) { return captured_values(*region).empty(); });
}

std::vector<LiteralRef> operand_constants(const Op& op) {
  std::vector<LiteralRef> literals;
  for (const Value* operand : op.operands) {
    LiteralRef literal = constant_of(operand);
    if (!literal) return {};
    literals.push_back(std::move(literal));
  }
  return literals;
}

LiteralRef evaluated(const Op& op, const std::vector<RefTensor>& inputs) {
  if (std::any_of(inputs.begin(), inputs.end(), has_nan)) return nullptr;
  const RefTensor result = evaluate(op, inputs)[0];
  return has_nan(result) ? nullptr : to_literal(result);
}

// An elementwise op of splats is the splat of the same op on scalars.
LiteralRef fold_splats(const Op& op, const std::vector<LiteralRef>& operands) {
  if (op.results.size() != 1) return nullptr;
  const auto is_one_element = [](const LiteralRef& l) { return l->is_splat || l->type.elements() == 1; };
  if (!op.def->is_elementwise || !std::all_of(operands.begin(), operands.end(), is_one_element)) return nullptr;
  Block scratch;
  GraphBuilder b;
  b.at_end(scratch);
  b.location = op.location;
  Values scalars;
  std::vector<RefTensor> inputs;
  for (const LiteralRef& literal : operands) {
    const LiteralRef scalar = with_shape(*literal, {});
    scalars.push_back(scratch.add_argument(scalar->type));
    inputs.push_back(from_literal(*scalar));
  }
  const TensorType scalar_type{op.result()->type.dtype, {}};
  const Op* on_scalars = b.create(*op.def, scalars, op.attr_map, {scalar_type});
  const LiteralRef scalar = evaluated(*on_scalars, inputs);
  if (!scalar) return nullptr;
  auto result = std::make_shared<Literal>(*scalar);
  result->type = op.result()->type;
  result->is_splat = true;
  return result;
}

LiteralRef fold_dense(const Op& op, const std::vector<LiteralRef>& operands, PassContext& context) {
  if (op.results.size() != 1) return nullptr;
  int64_t dense_bytes = 0, elements = op.result()->type.elements();
  for (const LiteralRef& literal : operands) {
    if (!literal->is_splat) dense_bytes += literal->type.bytes();
    elements += literal->type.elements();
  }
  if (op.result()->type.bytes() > std::max(context.fold_bytes_max, dense_bytes)) return nullptr;
  if (elements > context.fold_elements_max) return nullptr;
  std::vector<RefTensor> inputs;
  for (const LiteralRef& literal : operands) inputs.push_back(from_literal(*literal));
  const LiteralRef result = evaluated(op, inputs);
  return result ? as_splat_if_equal(result) : nullptr;
}

}  // namespace

bool fold_constants(Module& module, PassContext& context) {
  bool changed = false;
  GraphBuilder b;
  for_each_block(module, [&](Block& block) {
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op* op = (at++)->get();
      if (!may_fold(*op)) continue;
      const std::vector<LiteralRef> operands = operand_constants(*op);
      if (operands.empty()) continue;
      LiteralRef literal = fold_splats(*op, operands);
      if (!literal) literal = fold_dense(*op, operands, context);
      if (!literal) continue;
      b.before(*op);
      b.location = op->location;
      const TensorType type = literal->type;
      replace_op(op, {b.make(kConstant, {}, {{"value", std::move(literal)}}, {type})});
      changed = true;
    }
  });
  return changed;
}

}  // namespace ingot
