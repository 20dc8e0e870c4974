#include "aot/passes/layouts/axes.h"

#include "aot/base/contains.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/axes.h"

namespace ingot::layouts {
namespace {

const AxisRule* rule_of(const Op& op) {
  if (op.def->axes) return op.def->axes;
  return op.def->is_elementwise && op.regions.empty() ? &ops::kElementwiseAxes : nullptr;
}

}  // namespace

std::optional<Axes> axes_of(const Op& op) {
  const AxisRule* rule = op.results.empty() ? nullptr : rule_of(op);
  return rule ? rule->axes(op) : std::nullopt;
}

std::optional<Order> axes_along(const Axes& axes, const AxisOfDim& tensor, const Shape& shape, const Order& order) {
  Order result;
  int64_t last_dim = -1;
  for (const int64_t dim : order) {
    const int axis = tensor[dim];
    const bool is_unit = axes.extents[axis] == 1, is_there = contains(result, axis);
    if (shape[dim] == 1 && (!is_unit || is_there)) continue;
    const bool goes_on = is_there && result.back() == axis && dim > last_dim;
    if (is_there && !goes_on) return std::nullopt;
    if (!is_there) result.push_back(axis);
    last_dim = dim;
  }
  for (size_t axis = 0; axis < axes.extents.size(); ++axis) {
    if (contains(result, static_cast<int64_t>(axis))) continue;
    if (axes.extents[axis] != 1) return std::nullopt;
    result.push_back(static_cast<int64_t>(axis));
  }
  return result;
}

bool may_lie(const Op& op, const Axes& axes, const Order& order) {
  const AxisRule* rule = rule_of(op);
  return !rule->may_lie || rule->may_lie(op, axes, order);
}

bool made_again(const Value* value) {
  if (!value->op || !axes_of(*value->op)) return false;
  if (value->op->operands.empty()) return true;
  return value->op->is(kBroadcastInDim) && value->op->operand(0)->type.rank() < 2;
}

AttrMap attrs_along(const Op& op, const Axes& axes, const Order& order) { return rule_of(op)->attrs(op, axes, order); }

}  // namespace ingot::layouts
