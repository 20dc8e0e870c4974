#include "aot/frontend/onnx/terms.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "aot/base/contains.h"
#include "aot/base/join.h"
#include "aot/ops/support/index.h"

namespace ingot::onnx {
namespace {

constexpr DType kIndex = DType::kI32;

[[noreturn]] void fail(Term x, const std::string& message) { throw_error(x.builder().location, message); }

void check_axis(Term x, int64_t axis, int extra = 0) {
  if (axis >= 0 && axis < rank_of(x) + extra) return;
  fail(x, fmt::format("[{}] has no axis {}", join(x.shape(), ", "), axis));
}

}  // namespace

std::vector<int64_t> all_axes(Term x) { return ops::iota_dims(rank_of(x)); }

Term constant(GraphBuilder& b, const TensorType& type, double value) { return {b, ops::constant(b, type, value)}; }

Term floats(GraphBuilder& b, const TensorType& type, const std::vector<double>& values) {
  const int width = info(type.dtype).bytes;
  std::vector<std::byte> data(values.size() * width);
  for (size_t i = 0; i < values.size(); ++i) store_float(type.dtype, values[i], data.data() + i * width);
  return {b, ops::constant(b, dense(type, std::move(data)))};
}

Term integers(GraphBuilder& b, const TensorType& type, const std::vector<int64_t>& values) {
  const int width = info(type.dtype).bytes;
  std::vector<std::byte> data(values.size() * width);
  for (size_t i = 0; i < values.size(); ++i) store_int(type.dtype, values[i], data.data() + i * width);
  return {b, ops::constant(b, dense(type, std::move(data)))};
}

Term counted(Term like, const TensorType& type, int64_t axis) {
  return {like.builder(), ops::iota(like.builder(), type, axis)};
}

Shape broadcast_shape(const Shape& x, const Shape& y) {
  Shape shape(std::max(x.size(), y.size()));
  for (size_t d = 0; d < shape.size(); ++d) {
    const size_t from_end = shape.size() - d;
    const int64_t a = from_end > x.size() ? 1 : x[x.size() - from_end];
    const int64_t b = from_end > y.size() ? 1 : y[y.size() - from_end];
    if (a != b && a != 1 && b != 1) {
      throw_error(nullptr, fmt::format("the shapes [{}] and [{}] do not broadcast", join(x, ", "), join(y, ", ")));
    }
    shape[d] = a == 1 ? b : a;
  }
  return shape;
}

Term broadcast(Term x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const int missing = static_cast<int>(shape.size()) - rank_of(x);
  if (missing < 0 || broadcast_shape(x.shape(), shape) != shape) {
    fail(x, fmt::format("the shape [{}] does not broadcast to [{}]", join(x.shape(), ", "), join(shape, ", ")));
  }
  std::vector<int64_t> dims;
  for (int d = 0; d < rank_of(x); ++d) dims.push_back(d + missing);
  return {x.builder(), ops::broadcast_in_dim(x.builder(), x, shape, dims)};
}

std::vector<Term> broadcast_all(std::vector<Term> xs) {
  Shape shape;
  for (const Term& x : xs) shape = broadcast_shape(shape, x.shape());
  for (Term& x : xs) x = broadcast(x, shape);
  return xs;
}

Term reshape(Term x, const Shape& shape) {
  if (element_count(shape) != element_count(x.shape())) {
    fail(x, fmt::format("[{}] cannot be reshaped to [{}]", join(x.shape(), ", "), join(shape, ", ")));
  }
  return {x.builder(), ops::reshape(x.builder(), x, shape)};
}

Term unsqueeze(Term x, int64_t axis) {
  check_axis(x, axis, 1);
  Shape shape = x.shape();
  shape.insert(shape.begin() + axis, 1);
  return reshape(x, shape);
}

Term transpose(Term x, const std::vector<int64_t>& permutation) {
  if (permutation == all_axes(x)) return x;
  return {x.builder(), ops::transpose(x.builder(), x, permutation)};
}

Term swap_axes(Term x, int64_t a, int64_t b) {
  check_axis(x, a);
  check_axis(x, b);
  std::vector<int64_t> permutation = all_axes(x);
  std::swap(permutation[a], permutation[b]);
  return transpose(x, permutation);
}

Term move_axis(Term x, int64_t from, int64_t to) {
  std::vector<int64_t> permutation = ops::other_dims(rank_of(x), {from});
  permutation.insert(permutation.begin() + to, from);
  return transpose(x, permutation);
}

Term slice(Term x, int64_t axis, int64_t start, int64_t end, int64_t step) {
  check_axis(x, axis);
  if (start == 0 && end == x.shape()[axis] && step == 1) return x;
  Shape starts(x.shape().size(), 0), ends = x.shape(), steps(x.shape().size(), 1);
  starts[axis] = start;
  ends[axis] = std::max(start, end);
  steps[axis] = step;
  return {x.builder(), ops::slice(x.builder(), x, starts, ends, steps)};
}

Term at_index(Term x, int64_t axis, int64_t index) {
  check_axis(x, axis);
  return reshape(slice(x, axis, index, index + 1), without(x.shape(), {axis}));
}

Term reverse(Term x, int64_t axis) { return {x.builder(), ops::reverse(x.builder(), x, {axis})}; }

Term concat(const std::vector<Term>& xs, int64_t axis) {
  if (xs.size() == 1) return xs[0];
  Values values;
  for (const Term& x : xs) values.push_back(x);
  return {xs[0].builder(), ops::concatenate(xs[0].builder(), values, axis)};
}

Term pad(Term x, double value, const Shape& low, const Shape& high) {
  const auto is_zero = [](int64_t n) { return n == 0; };
  if (std::ranges::all_of(low, is_zero) && std::ranges::all_of(high, is_zero)) return x;
  GraphBuilder& b = x.builder();
  return {b, ops::pad(b, x, constant(b, {dtype_of(x), {}}, value), low, high, Shape(x.shape().size(), 0))};
}

Term pad_axis(Term x, double value, int64_t axis, int64_t low, int64_t high) {
  check_axis(x, axis);
  Shape lows(x.shape().size(), 0), highs(x.shape().size(), 0);
  lows[axis] = low;
  highs[axis] = high;
  return pad(x, value, lows, highs);
}

Term along(Term vector, int64_t axis, int rank) {
  if (axis < 0 || axis >= rank) fail(vector, fmt::format("there is no axis {}", axis));
  Shape shape(rank, 1);
  shape[axis] = element_count(vector.shape());
  return reshape(vector, shape);
}

Shape without(const Shape& shape, const std::vector<int64_t>& axes) {
  return ops::extents(shape, ops::other_dims(static_cast<int>(shape.size()), axes));
}

Term reduce(const OpDef& op, Term x, const std::vector<int64_t>& axes) {
  for (const int64_t axis : axes) check_axis(x, axis);
  Shape kept = x.shape();
  for (const int64_t axis : axes) kept[axis] = 1;
  if (axes.empty()) return x;
  return reshape({x.builder(), ops::reduce(x.builder(), op, x, axes)}, kept);
}

Term mean(Term x, const std::vector<int64_t>& axes) {
  int64_t count = 1;
  for (const int64_t axis : axes) count *= x.shape()[axis];
  const Term sum = reduce(kAdd, x, axes);
  return sum / static_cast<double>(count);
}

namespace {

Term shifted(Term x, int64_t axis) { return x - broadcast(reduce(kMaximum, x, {axis}), x.shape()); }

}  // namespace

Term softmax(Term x, int64_t axis) {
  if (element_count(x.shape()) == 0) return x;
  const Term wide = widened(x), e = exp(shifted(wide, axis));
  return converted(e / broadcast(reduce(kAdd, e, {axis}), x.shape()), dtype_of(x));
}

Term log_softmax(Term x, int64_t axis) {
  if (element_count(x.shape()) == 0) return x;
  const Term wide = widened(x), s = shifted(wide, axis);
  return converted(s - broadcast(log(reduce(kAdd, exp(s), {axis})), x.shape()), dtype_of(x));
}

Sorted sort(Term x, int64_t axis, bool descending) {
  check_axis(x, axis);
  GraphBuilder& b = x.builder();
  const Term places = counted(x, {kIndex, x.shape()}, axis);
  auto block = std::make_unique<Block>();
  Value* first = block->add_argument({dtype_of(x), {}});
  Value* second = block->add_argument({dtype_of(x), {}});
  block->add_argument({kIndex, {}});
  block->add_argument({kIndex, {}});
  GraphBuilder inner;
  inner.location = b.location;
  inner.at_end(*block);
  AttrMap how{{"comparison_direction", EnumAttr{"comparison_direction", descending ? "GT" : "LT"}}};
  if (is_float(dtype_of(x))) how.emplace("compare_type", EnumAttr{"comparison_type", "TOTALORDER"});
  inner.create(kStablehloReturn, {inner.make(kCompare, {first, second}, std::move(how))});
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(block));
  const Op* made =
      b.create(kSort, {x, places}, {{"dimension", IntAttr{axis}}, {"is_stable", true}}, {}, std::move(regions));
  return {{b, made->result(0)}, {b, made->result(1)}};
}

// The place is the least, or greatest, of those that hold the extreme (or NaN, which is one).
Extremes extremes(Term x, int64_t axis, bool greatest, bool last) {
  check_axis(x, axis);
  const Term best = reduce(greatest ? kMaximum : kMinimum, x, {axis});
  const Term places = counted(x, {kIndex, x.shape()}, axis);
  Term is_best = equal(x, broadcast(best, x.shape()));
  if (is_float(dtype_of(x))) is_best = either(is_best, is_nan(x));
  const Term none = constant(x.builder(), type_of(places), last ? -1 : static_cast<double>(x.shape()[axis]));
  const Term found = reduce(last ? kMaximum : kMinimum, where(is_best, places, none), {axis});
  const Shape shape = without(x.shape(), {axis});
  return {reshape(best, shape), reshape(found, shape)};
}

Term is_nan(Term x) { return x.compare("NE", x); }

Term softplus(Term x) { return max(x, 0) + (exp(-abs(x))).unary(kLogPlusOne); }

Term widened(Term x) { return is_float(dtype_of(x)) && info(dtype_of(x)).bits < 32 ? converted(x, DType::kF32) : x; }

Term saturated(Term x, DType dtype) {
  const int bits = info(dtype).bits;
  const double low = is_signed(dtype) ? -std::ldexp(1.0, bits - 1) : 0;
  const double high = std::ldexp(1.0, is_signed(dtype) ? bits - 1 : bits) - 1;
  return converted(min(max(x, low), high), dtype);
}

Term batched_product(Term x, Term y) {
  ops::DotDims dims;
  const int rank = rank_of(x);
  dims.lhs_batch = dims.rhs_batch = ops::iota_dims(rank - 2);
  dims.lhs_contract = {rank - 1};
  dims.rhs_contract = {rank - 2};
  return {x.builder(), ops::dot_general(x.builder(), x, y, dims)};
}

namespace {

// [..., M, K] by a matrix [K, N]: one product, of all rows.
Term rows_product(Term x, Term y) {
  return {x.builder(), ops::dot_general(x.builder(), x, y, {{}, {}, {rank_of(x) - 1}, {0}})};
}

}  // namespace

Term matmul(Term x, Term y) {
  if (rank_of(x) == 0 || rank_of(y) == 0) fail(x, "a product of matrices needs operands of one dimension at least");
  const bool is_row = rank_of(x) == 1, is_column = rank_of(y) == 1;
  if (is_row) x = unsqueeze(x, 0);
  if (is_column) y = unsqueeze(y, 1);
  if (x.shape().back() != y.shape()[y.shape().size() - 2]) {
    fail(x, fmt::format("[{}] and [{}] cannot be multiplied: {} and {} differ", join(x.shape(), ", "),
                        join(y.shape(), ", "), x.shape().back(), y.shape()[y.shape().size() - 2]));
  }
  Term result = x;
  if (rank_of(y) == 2) {
    result = rows_product(x, y);
  } else {
    const Shape x_stack(x.shape().begin(), x.shape().end() - 2), y_stack(y.shape().begin(), y.shape().end() - 2);
    const Shape stack = broadcast_shape(x_stack, y_stack);
    Shape wide_x = stack, wide_y = stack;
    wide_x.insert(wide_x.end(), x.shape().end() - 2, x.shape().end());
    wide_y.insert(wide_y.end(), y.shape().end() - 2, y.shape().end());
    result = batched_product(broadcast(x, wide_x), broadcast(y, wide_y));
  }
  const int rank = rank_of(result);
  std::vector<int64_t> dropped;
  if (is_row) dropped.push_back(rank - 2);
  if (is_column) dropped.push_back(rank - 1);
  return reshape(result, without(result.shape(), dropped));
}

Term from_end(Term indices, int64_t size) {
  if (is_unsigned(dtype_of(indices))) return indices;
  return where(indices < indices.like(0), indices + static_cast<double>(size), indices);
}

Term take(Term x, Term indices, int64_t axis) {
  check_axis(x, axis);
  const int rank = rank_of(x), index_rank = rank_of(indices);
  ops::IndexedDims dims;
  Shape sizes = x.shape();
  sizes[axis] = 1;
  for (int d = 0; d < rank; ++d) {
    if (d != axis) dims.window_dims.push_back(d < axis ? d : d + index_rank - 1);
  }
  dims.dropped_dims = dims.index_map = {axis};
  dims.index_vector_dim = index_rank;
  const Term wrapped = from_end(indices, x.shape()[axis]);
  return {x.builder(), ops::gather(x.builder(), x, wrapped, dims, sizes)};
}

Term gather_elements(Term x, Term indices, int64_t axis) {
  check_axis(x, axis);
  const int rank = rank_of(x);
  if (rank_of(indices) != rank) fail(x, fmt::format("indices of {} dimensions into {}", rank_of(indices), rank));
  std::vector<Term> components;
  for (int d = 0; d < rank; ++d) {
    const Term at = d == axis ? indices : counted(x, {dtype_of(indices), indices.shape()}, d);
    components.push_back(unsqueeze(at, rank));
  }
  ops::IndexedDims dims;
  dims.dropped_dims = dims.index_map = all_axes(x);
  dims.index_vector_dim = rank;
  return {x.builder(), ops::gather(x.builder(), x, concat(components, rank), dims, Shape(rank, 1))};
}

}  // namespace ingot::onnx
