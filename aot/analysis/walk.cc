#include "aot/analysis/walk.h"

#include <algorithm>

#include "aot/graph/attributes.h"
#include "aot/ops/ops.h"

namespace ingot {

void for_each_block(Block& block, const std::function<void(Block&)>& visit) {
  for (auto& op : block.ops) {
    for (auto& region : op->regions) for_each_block(*region, visit);
  }
  visit(block);
}

void for_each_block(Module& module, const std::function<void(Block&)>& visit) {
  for (auto& function : module.functions) for_each_block(function->body, visit);
}

Values read_by(const Op& op) {
  Values values = op.operands;
  for (const auto& region : op.regions) {
    const Values captured = captured_values(*region);
    values.insert(values.end(), captured.begin(), captured.end());
  }
  return values;
}

bool erase_unread(Block& block) {
  bool changed = false;
  // Backwards, so that an op is seen after all that read it.
  for (auto at = block.ops.end(); at != block.ops.begin();) {
    Op* op = std::prev(at)->get();
    if (op->def->is_terminator || op->def->has_side_effect || op->has_uses()) {
      --at;
    } else {
      erase(op);
      changed = true;
    }
  }
  return changed;
}

Values results_of(const Op& op) {
  Values results;
  for (const auto& result : op.results) results.push_back(result.get());
  return results;
}

const Value* under_reshapes(const Value* value) {
  while (value->op && value->op->is(kReshape)) value = value->op->operand(0);
  return value;
}

void replace_op(Op* op, const Values& values) {
  INGOT_CHECK(values.size() == op->results.size());
  for (size_t i = 0; i < values.size(); ++i) {
    Value* result = op->result(static_cast<int>(i));
    INGOT_CHECK(values[i]->type == result->type);
    if (values[i]->name.empty() && values[i]->op) values[i]->name = result->name;
    replace_all_uses(result, values[i]);
  }
  erase(op);
}

LiteralRef constant_of(const Value* value) {
  if (!value->op || !value->op->is(kConstant)) return nullptr;
  return value->op->attrs().literal("value");
}

bool is_unread(const Op& constant) { return constant.attr_map.contains(attributes::kUnread); }

LiteralRef with_shape(const Literal& literal, Shape shape) {
  auto result = std::make_shared<Literal>(literal);
  result->type.shape = std::move(shape);
  INGOT_CHECK(literal.is_splat || result->type.elements() == literal.type.elements());
  return result;
}

LiteralRef as_splat_if_equal(LiteralRef literal) {
  const auto size = static_cast<size_t>(info(literal->type.dtype).bytes);
  if (literal->is_splat || literal->data.size() < size) return literal;
  // Equal to itself shifted by one element: all elements are the same.
  if (!std::equal(literal->data.begin() + size, literal->data.end(), literal->data.begin())) return literal;
  auto splat = std::make_shared<Literal>();
  splat->type = literal->type;
  splat->data.assign(literal->data.begin(), literal->data.begin() + size);
  splat->is_splat = true;
  return splat;
}

}  // namespace ingot
