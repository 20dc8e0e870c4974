#include "aot/passes/layouts/axes.h"

#include <algorithm>
#include <numeric>

#include "aot/analysis/walk.h"
#include "aot/base/contains.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/window.h"

namespace ingot::layouts {
namespace {

using Ints = std::vector<int64_t>;

// What an op's tensors tell when its axes are asked for, and what changes in its attributes.
struct Rule {
  const OpDef* op;
  std::optional<Axes> (*axes)(const Op& op);
  AttrMap (*attrs)(const Op& op, const Axes& axes, const Order& order);
};

AxisOfDim each_its_own(int rank) {
  AxisOfDim axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

void lengthen(Shape& extents, const AxisOfDim& tensor, const Shape& shape) {
  for (size_t d = 0; d < tensor.size(); ++d) extents[tensor[d]] = std::max(extents[tensor[d]], shape[d]);
}

// --- axes ---

// Tensors of one rank share all dimensions; others are scalars.
std::optional<Axes> same_dims(const Op& op) {
  const int rank = op.result()->type.rank();
  Axes axes{Shape(rank, 1), {}, each_its_own(rank)};
  lengthen(axes.extents, axes.result, op.result()->type.shape);
  for (const Value* operand : op.operands) {
    if (operand->type.rank() != 0 && operand->type.rank() != rank) return std::nullopt;
    axes.operands.push_back(each_its_own(operand->type.rank()));
    lengthen(axes.extents, axes.operands.back(), operand->type.shape);
  }
  return axes;
}

std::optional<Axes> splat(const Op& op) {
  if (!constant_of(op.result())->is_splat) return std::nullopt;
  return same_dims(op);
}

// The result has those of the operand's dimensions that are not reduced.
std::optional<Axes> reduced(const Op& op) {
  const Shape& shape = op.operand(0)->type.shape;
  const Ints dims = op.attrs().ints("dimensions");
  Axes axes{shape, {}, {}};
  for (const Value* operand : op.operands) axes.operands.push_back(each_its_own(operand->type.rank()));
  for (const int dim : axes.operands[0]) {
    if (!contains(dims, dim)) axes.result.push_back(dim);
  }
  return axes;
}

std::optional<Axes> broadcast(const Op& op) {
  const TensorType& type = op.result()->type;
  const Ints dims = op.attrs().ints("broadcast_dimensions");
  return Axes{type.shape, {AxisOfDim(dims.begin(), dims.end())}, each_its_own(type.rank())};
}

std::optional<Axes> transposed(const Op& op) {
  const TensorType& type = op.result()->type;
  const Ints place = permutation(op.attrs().ints("permutation"), as_written(type.shape.size()));
  return Axes{type.shape, {AxisOfDim(place.begin(), place.end())}, each_its_own(type.rank())};
}

// An axis is the fewest dimensions of both shapes that hold equally many elements;
// one of extent 1 is an axis by itself.
std::optional<Axes> reshaped(const Op& op) {
  const Shape& from = op.operand(0)->type.shape;
  const Shape& to = op.result()->type.shape;
  if (element_count(to) == 0) return std::nullopt;
  Axes axes{{}, {{}}, {}};
  size_t a = 0, b = 0;
  while (a < from.size() || b < to.size()) {
    const int axis = static_cast<int>(axes.extents.size());
    int64_t left = 1, right = 1;
    const auto take_from = [&] { left *= from[a++], axes.operands[0].push_back(axis); };
    const auto take_to = [&] { right *= to[b++], axes.result.push_back(axis); };
    const bool is_unit_from = a < from.size() && from[a] == 1, is_unit_to = b < to.size() && to[b] == 1;
    if (is_unit_from || is_unit_to) {
      if (is_unit_from) take_from();
      if (is_unit_to) take_to();
    } else {
      take_from();
      take_to();
    }
    while (left != right) left < right ? take_from() : take_to();
    axes.extents.push_back(left);
  }
  return axes;
}

// --- attributes ---

AttrMap unchanged(const Op& op, const Axes&, const Order&) { return op.attr_map; }

AttrMap with_literal(const Op& op, const Axes& axes, const Order& order) {
  AttrMap attrs = op.attr_map;
  attrs["value"] = with_shape(*constant_of(op.result()), in_order(op.result()->type.shape, along(axes.result, order)));
  return attrs;
}

// Lists with one entry for each dimension.
AttrMap with_entries(const Op& op, const Axes& axes, const Order& order) {
  constexpr std::string_view kLists[] = {"start_indices",    "limit_indices",     "strides",
                                         "edge_padding_low", "edge_padding_high", "interior_padding"};
  AttrMap attrs = op.attr_map;
  for (const std::string_view name : kLists) {
    if (const auto found = attrs.find(name); found != attrs.end()) {
      found->second = in_order(op.attrs().ints(name), along(axes.result, order));
    }
  }
  return attrs;
}

// Numbers of dimensions of operand 0, or of the result where there are no operands.
AttrMap with_numbers(const Op& op, const Axes& axes, const Order& order) {
  const Order tensor = along(axes.operands.empty() ? axes.result : axes.operands[0], order);
  const Order place = permutation(tensor, as_written(tensor.size()));
  AttrMap attrs = op.attr_map;
  for (const std::string_view name : {"dimension", "iota_dimension"}) {
    if (const auto found = attrs.find(name); found != attrs.end()) {
      found->second = IntAttr{place[op.attrs().integer(name)]};
    }
  }
  if (const auto found = attrs.find("dimensions"); found != attrs.end()) {
    Ints dims;
    for (const int64_t dim : op.attrs().ints("dimensions")) dims.push_back(place[dim]);
    std::ranges::sort(dims);
    found->second = dims;
  }
  return attrs;
}

AttrMap with_broadcast(const Op& op, const Axes& axes, const Order& order) {
  const Order result = along(axes.result, order);
  const Order place = permutation(result, as_written(result.size()));
  const Ints dims = op.attrs().ints("broadcast_dimensions");
  Ints renumbered;
  for (const int64_t dim : along(axes.operands[0], order)) renumbered.push_back(place[dims[dim]]);
  AttrMap attrs = op.attr_map;
  attrs["broadcast_dimensions"] = renumbered;
  return attrs;
}

AttrMap with_window(const Op& op, const Axes& axes, const Order& order) {
  const ops::Window window = ops::read_window(op.attrs());
  ops::Window permuted;
  for (const int64_t dim : along(axes.result, order)) permuted.push_back(window[dim]);
  AttrMap attrs = op.attr_map;
  for (auto& [name, attr] : ops::window_attrs(permuted)) attrs[name] = attr;
  return attrs;
}

constexpr Rule kElementwise = {nullptr, same_dims, unchanged};
constexpr Rule kAxisRules[] = {
    {&kConstant, splat, with_literal},
    {&kIota, same_dims, with_numbers},
    {&kSlice, same_dims, with_entries},
    {&kPad, same_dims, with_entries},
    {&kReverse, same_dims, with_numbers},
    {&kConcatenate, same_dims, with_numbers},
    {&kBroadcastInDim, broadcast, with_broadcast},
    {&kTranspose, transposed, unchanged},
    {&kReshape, reshaped, unchanged},
    {&kReduce, reduced, with_numbers},
    {&kReduceWindow, same_dims, with_window},
    {&kSelectAndScatter, same_dims, with_window},
};

const Rule* rule_of(const Op& op) {
  const auto* found = std::ranges::find(kAxisRules, op.def, &Rule::op);
  if (found != std::end(kAxisRules)) return found;
  return op.def->is_elementwise && op.regions.empty() ? &kElementwise : nullptr;
}

}  // namespace

std::optional<Axes> axes_of(const Op& op) {
  const Rule* rule = op.results.empty() ? nullptr : rule_of(op);
  return rule ? rule->axes(op) : std::nullopt;
}

Order along(const AxisOfDim& tensor, const Order& axes) {
  Order order;
  for (const int64_t axis : axes) {
    for (size_t d = 0; d < tensor.size(); ++d) {
      if (tensor[d] == axis) order.push_back(static_cast<int64_t>(d));
    }
  }
  return order;
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
  if (rule_of(op)->attrs != with_window) return true;
  const ops::Window window = ops::read_window(op.attrs());
  Order walked = along(axes.result, order);
  std::erase_if(walked, [&](int64_t dim) { return window[dim].size == 1; });
  return std::ranges::is_sorted(walked);
}

bool made_again(const Value* value) {
  if (!value->op || !axes_of(*value->op)) return false;
  if (value->op->operands.empty()) return true;
  return value->op->is(kBroadcastInDim) && value->op->operand(0)->type.rank() < 2;
}

AttrMap attrs_along(const Op& op, const Axes& axes, const Order& order) { return rule_of(op)->attrs(op, axes, order); }

}  // namespace ingot::layouts
