#include "aot/ops/support/axes.h"

#include <algorithm>
#include <numeric>

#include "aot/ops/support/window.h"

namespace ingot::ops {

using layouts::along;
using layouts::Axes;
using layouts::AxisOfDim;
using layouts::AxisRule;
using layouts::Order;

AxisOfDim each_its_own(int rank) {
  AxisOfDim axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

namespace {

void lengthen(Shape& extents, const AxisOfDim& tensor, const Shape& shape) {
  for (size_t d = 0; d < tensor.size(); ++d) extents[tensor[d]] = std::max(extents[tensor[d]], shape[d]);
}

AttrMap with_window(const Op& op, const Axes& axes, const Order& order) {
  const Window window = read_window(op.attrs());
  Window permuted;
  for (const int64_t dim : along(axes.result, order)) permuted.push_back(window[dim]);
  AttrMap attrs = op.attr_map;
  for (auto& [name, attr] : window_attrs(permuted)) attrs[name] = attr;
  return attrs;
}

bool keeps_window_order(const Op& op, const Axes& axes, const Order& order) {
  const Window window = read_window(op.attrs());
  Order walked = along(axes.result, order);
  std::erase_if(walked, [&](int64_t dim) { return window[dim].size == 1; });
  return std::ranges::is_sorted(walked);
}

}  // namespace

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

AttrMap unchanged(const Op& op, const Axes&, const Order&) { return op.attr_map; }

AttrMap with_numbers(const Op& op, const Axes& axes, const Order& order) {
  const Order tensor = along(axes.operands.empty() ? axes.result : axes.operands[0], order);
  const Order place = layouts::permutation(tensor, layouts::as_written(tensor.size()));
  AttrMap attrs = op.attr_map;
  for (const std::string_view name : {"dimension", "iota_dimension"}) {
    if (const auto found = attrs.find(name); found != attrs.end()) {
      found->second = IntAttr{place[op.attrs().integer(name)]};
    }
  }
  if (const auto found = attrs.find("dimensions"); found != attrs.end()) {
    std::vector<int64_t> dims;
    for (const int64_t dim : op.attrs().ints("dimensions")) dims.push_back(place[dim]);
    std::ranges::sort(dims);
    found->second = dims;
  }
  return attrs;
}

AttrMap with_entries(const Op& op, const Axes& axes, const Order& order) {
  constexpr std::string_view kLists[] = {"start_indices",    "limit_indices",     "strides",
                                         "edge_padding_low", "edge_padding_high", "interior_padding"};
  AttrMap attrs = op.attr_map;
  for (const std::string_view name : kLists) {
    if (const auto found = attrs.find(name); found != attrs.end()) {
      found->second = layouts::in_order(op.attrs().ints(name), along(axes.result, order));
    }
  }
  return attrs;
}

const AxisRule kWindowAxes = {same_dims, with_window, keeps_window_order};

}  // namespace ingot::ops
