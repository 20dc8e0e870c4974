// Ops that reduce axes, and those that look for extremes.
#include <fmt/format.h>

#include <numeric>

#include "aot/base/contains.h"
#include "aot/frontend/onnx/node_args.h"

namespace ingot::onnx {
namespace {

// Axes are an attribute of older opsets and an input of later ones; none: all, unless noop_with_empty_axes.
std::optional<std::vector<int64_t>> reduced_axes(NodeArgs& n, Term x) {
  const std::vector<int64_t> axes = n.axes(n.integers_of("axes", 1), rank_of(x));
  const bool keeps_all = n.flag("noop_with_empty_axes");
  if (!axes.empty()) return axes;
  if (keeps_all) return std::nullopt;
  return all_axes(x);
}

using Reduce = Term (*)(Term x, const std::vector<int64_t>& axes);

Items reduction(NodeArgs& n, Reduce reduce_axes, Term x) {
  const auto axes = reduced_axes(n, x);
  const Term y = reduce_axes(x, axes ? *axes : std::vector<int64_t>());
  if (n.flag("keepdims", true) || !axes) return y;
  return reshape(y, without(y.shape(), *axes));
}

Items reduction(NodeArgs& n, Reduce reduce_axes) { return reduction(n, reduce_axes, n.in(0)); }

Term sum(Term x, const std::vector<int64_t>& axes) { return reduce(kAdd, x, axes); }

// log(sum(exp(x))) without overflow; of nothing, or of -inf alone, -inf.
Term log_sum_exp(Term x, const std::vector<int64_t>& axes) {
  const Term wide = widened(x);
  if (element_count(x.shape()) == 0) return converted(log(sum(exp(wide), axes)), dtype_of(x));
  const Term most = reduce(kMaximum, wide, axes);
  const Term shift = where(most.unary(kIsFinite), most, 0);
  const Term rest = log(sum(exp(wide - broadcast(shift, x.shape())), axes));
  return converted(rest + shift, dtype_of(x));
}

// Truth values have an order: false, true.
Items extreme(NodeArgs& n, Reduce reduce_axes) {
  const Term x = n.in(0);
  if (!is_bool(dtype_of(x))) return reduction(n, reduce_axes, x);
  const Items found = reduction(n, reduce_axes, converted(x, DType::kUI8));
  return converted(Term(n.b, found[0].value), DType::kI1);
}

Term integer_mean(Term x, const std::vector<int64_t>& axes) { return mean(x, axes); }

}  // namespace

Items lower_reduce_sum(NodeArgs& n) { return reduction(n, sum); }
Items lower_reduce_mean(NodeArgs& n) { return reduction(n, integer_mean); }
Items lower_reduce_log_sum_exp(NodeArgs& n) { return reduction(n, log_sum_exp); }

Items lower_reduce_max(NodeArgs& n) {
  return extreme(n, [](Term x, const std::vector<int64_t>& axes) { return reduce(kMaximum, x, axes); });
}

Items lower_reduce_min(NodeArgs& n) {
  return extreme(n, [](Term x, const std::vector<int64_t>& axes) { return reduce(kMinimum, x, axes); });
}

Items lower_reduce_prod(NodeArgs& n) {
  return reduction(n, [](Term x, const std::vector<int64_t>& axes) { return reduce(kMultiply, x, axes); });
}

Items lower_reduce_l1(NodeArgs& n) {
  return reduction(n, [](Term x, const std::vector<int64_t>& axes) { return sum(abs(x), axes); });
}

Items lower_reduce_l2(NodeArgs& n) {
  return reduction(n, [](Term x, const std::vector<int64_t>& axes) {
    const Term wide = is_integer(dtype_of(x)) ? converted(x, DType::kF64) : widened(x);
    return converted(square_root(sum(wide * wide, axes)), dtype_of(x));
  });
}

Items lower_reduce_log_sum(NodeArgs& n) {
  return reduction(n, [](Term x, const std::vector<int64_t>& axes) { return log(sum(x, axes)); });
}

Items lower_reduce_sum_square(NodeArgs& n) {
  return reduction(n, [](Term x, const std::vector<int64_t>& axes) { return sum(x * x, axes); });
}

namespace {

Items arg_extreme(NodeArgs& n, bool greatest) {
  const Term x = n.in(0);
  const int64_t axis = n.axis(n.integer("axis", 0), rank_of(x));
  if (x.shape()[axis] == 0) n.fail("the axis has no elements");
  const Term at = converted(extremes(x, axis, greatest, n.flag("select_last_index")).indices, DType::kI64);
  return n.flag("keepdims", true) ? unsqueeze(at, axis) : at;
}

}  // namespace

Items lower_arg_max(NodeArgs& n) { return arg_extreme(n, true); }
Items lower_arg_min(NodeArgs& n) { return arg_extreme(n, false); }

// k is an attribute up to opset 9. Equal elements stand in the order of their indices.
Items lower_top_k(NodeArgs& n) {
  const Term x = n.in(0);
  const int64_t axis = n.axis(n.integer("axis", -1), rank_of(x)), k = n.has("k") ? n.integer("k") : n.known_integer(1);
  if (k < 0 || k > x.shape()[axis]) n.fail(fmt::format("k = {} of {} elements", k, x.shape()[axis]));
  const bool greatest = n.flag("largest", true);
  const int64_t last = rank_of(x) - 1;
  if (greatest && last >= 0) {
    const Term moved = swap_axes(x, axis, last);
    const Op* top = n.b.create(kTopK, {moved}, {{"k", IntAttr{k}}, {"largest", true}});
    const Term values(n.b, top->result(0)), indices(n.b, top->result(1));
    return {swap_axes(values, axis, last), swap_axes(converted(indices, DType::kI64), axis, last)};
  }
  const Sorted sorted = sort(x, axis, false);
  return {slice(sorted.values, axis, 0, k), converted(slice(sorted.indices, axis, 0, k), DType::kI64)};
}

namespace {

// Running sums or products by doubling: each step takes in what stands 1, 2, 4, ... before.
Term running(Term x, int64_t axis, const OpDef& op) {
  const double neutral = op == kMultiply ? 1 : 0;
  const int64_t size = x.shape()[axis];
  for (int64_t step = 1; step < size; step *= 2) {
    const Term before = pad_axis(slice(x, axis, 0, size - step), neutral, axis, step, 0);
    x = x.binary(op, before);
  }
  return x;
}

Items cumulative(NodeArgs& n, const OpDef& op) {
  Term x = n.in(0);
  const int64_t axis = n.axis(n.known_integer(1), rank_of(x)), size = x.shape()[axis];
  const bool backwards = n.flag("reverse");
  if (backwards) x = reverse(x, axis);
  if (n.flag("exclusive") && size > 0) x = pad_axis(slice(x, axis, 0, size - 1), op == kMultiply ? 1 : 0, axis, 1, 0);
  const Term y = converted(running(widened(x), axis, op), dtype_of(x));
  return backwards ? reverse(y, axis) : y;
}

}  // namespace

Items lower_cum_sum(NodeArgs& n) { return cumulative(n, kAdd); }
Items lower_cum_prod(NodeArgs& n) { return cumulative(n, kMultiply); }

namespace {

// Up to opset 12 the axes from `axis` on are one.
using AlongAxis = Term (*)(Term x, int64_t axis);

Items flattened(NodeArgs& n, AlongAxis function) {
  const Term x = n.in(0);
  const int64_t axis = n.axis(n.integer("axis", 1), rank_of(x));
  const Shape rows(x.shape().begin(), x.shape().begin() + axis), columns(x.shape().begin() + axis, x.shape().end());
  return reshape(function(reshape(x, {element_count(rows), element_count(columns)}), 1), x.shape());
}

Items along_axis(NodeArgs& n, AlongAxis function) {
  const Term x = n.in(0);
  return function(x, n.axis(n.integer("axis", -1), rank_of(x)));
}

// One where the first of the greatest elements is.
Term hardmax(Term x, int64_t axis) {
  const Term at = unsqueeze(extremes(x, axis, true).indices, axis);
  const Term places = counted(x, {DType::kI32, x.shape()}, axis);
  return converted(equal(places, broadcast(at, x.shape())), dtype_of(x));
}

}  // namespace

Items lower_softmax(NodeArgs& n) { return along_axis(n, softmax); }
Items lower_softmax_flattened(NodeArgs& n) { return flattened(n, softmax); }
Items lower_log_softmax(NodeArgs& n) { return along_axis(n, log_softmax); }
Items lower_log_softmax_flattened(NodeArgs& n) { return flattened(n, log_softmax); }
Items lower_hardmax(NodeArgs& n) { return along_axis(n, hardmax); }
Items lower_hardmax_flattened(NodeArgs& n) { return flattened(n, hardmax); }

}  // namespace ingot::onnx
