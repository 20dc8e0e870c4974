// Quantized tensors: x = (q - zero point) scale.
#include <fmt/format.h>

#include <cmath>

#include "aot/frontend/onnx/cast.h"
#include "aot/frontend/onnx/windows.h"

namespace ingot::onnx {
namespace {

// A scale or zero point as a tensor like x: one number, one for each index of the axis, or one for each block along it.
Term spread(NodeArgs& n, Term parameter, Term x) {
  const int64_t block = n.integer("block_size", 0), given = n.integer("axis", 1);
  if (element_count(parameter.shape()) == 1 && rank_of(parameter) <= 1)
    return broadcast(reshape(parameter, {}), x.shape());
  const int64_t axis = n.axis(given, rank_of(x));
  if (block == 0) return broadcast(along(parameter, axis, rank_of(x)), x.shape());
  if (rank_of(parameter) != rank_of(x) || block < 0 || parameter.shape()[axis] > (int64_t{1} << 32) / block) {
    n.fail("scales of blocks need the input's dimensions");
  }
  Shape wide = parameter.shape(), joined = parameter.shape();
  wide.insert(wide.begin() + axis + 1, block);
  joined[axis] *= block;
  const Term all = reshape(broadcast(unsqueeze(parameter, axis + 1), wide), joined);
  if (joined[axis] < x.shape()[axis]) n.fail("there are too few blocks");
  return broadcast(slice(all, axis, 0, x.shape()[axis]), x.shape());
}

Term in_f32(Term x) { return converted(x, DType::kF32); }

// round(x / scale) + zero point, as far as the dtype reaches.
Term quantized(Term x, Term scale, std::optional<Term> zero, DType dtype) {
  Term steps = (x / scale).unary(kRoundNearestEven);
  steps = in_f32(steps);
  if (zero) steps = steps + *zero;
  return saturated(steps, dtype);
}

Term scalar_like(Term scalar, Term x) { return broadcast(scalar, x.shape()); }

}  // namespace

Items lower_quantize_linear(NodeArgs& n) {
  const Term x = n.in(0);
  DType dtype = n.dtype("output_dtype", DType::kUI8);
  if (n.has("output_dtype") && n.integer("output_dtype") == 0) dtype = DType::kUI8;
  if (n.has(2)) dtype = dtype_of(n.in(2));
  DType precision = dtype_of(n.in(1));
  if (n.integer("precision", 0)) precision = n.dtype("precision", precision);
  if (is_integer(dtype_of(x)) && !is_float(precision)) precision = DType::kF32;
  const bool saturates = n.flag("saturate", true);
  const Term wide = converted(x, precision), scale = converted(spread(n, n.in(1), x), precision);
  if (is_integer(dtype)) {
    std::optional<Term> zero;
    if (n.has(2)) zero = in_f32(spread(n, n.in(2), x));
    return quantized(wide, scale, zero, dtype);
  }
  return cast_to(wide / scale, dtype, saturates, "up");
}

Items lower_dequantize_linear(NodeArgs& n) {
  const Term x = n.in(0);
  // The difference of integers is exact, also of those that have more digits than an f32.
  const bool is_moved = n.has(2) && is_integer(dtype_of(x));
  const auto in_i32 = [](Term t) { return converted(t, DType::kI32); };
  const Term wide = in_f32(is_moved ? in_i32(x) - in_i32(spread(n, n.in(2), x)) : x);
  const Term scale = spread(n, n.in(1), x);
  const DType wanted = n.integer("output_dtype", 0) ? n.dtype("output_dtype", dtype_of(scale)) : dtype_of(scale);
  return converted(wide * in_f32(scale), wanted);
}

// The scale and zero point of u8 that the values themselves ask for; 0 is among them.
Items lower_dynamic_quantize_linear(NodeArgs& n) {
  const Term x = n.in(0);
  const auto extreme = [&](const OpDef& op) { return reshape(reduce(op, x, all_axes(x)), {}); };
  const Term high = max(extreme(kMaximum), 0), low = min(extreme(kMinimum), 0);
  const Term range = high - low;
  const Term scale = where(equal(range, range.like(0)), range.like(1), range) / 255;
  const Term zero = max(min((-low / scale), 255), 0).unary(kRoundNearestEven);
  const Term y = quantized(x, scalar_like(scale, x), scalar_like(zero, x), DType::kUI8);
  return {y, scale, converted(zero, DType::kUI8)};
}

namespace {

// Integers less their zero point. One of a vector belongs to an index of the axis.
Term centred(NodeArgs& n, int input, int zero, int64_t axis) {
  const Term x = converted(n.in(input), DType::kI32);
  if (!n.has(zero)) return x;
  const Term point = converted(n.in(zero), DType::kI32);
  if (element_count(point.shape()) == 1) return x - broadcast(reshape(point, {}), x.shape());
  if (rank_of(point) > 1) return x - broadcast(point, x.shape());
  return x - broadcast(along(point, axis, rank_of(x)), x.shape());
}

// A number, or one for each index of the axis, in f32.
Term factor(NodeArgs& n, int input, Term like, int64_t axis) {
  const Term given = in_f32(n.in(input));
  if (element_count(given.shape()) == 1) return broadcast(reshape(given, {}), like.shape());
  if (rank_of(given) > 1) return broadcast(given, like.shape());
  return broadcast(along(given, axis, rank_of(like)), like.shape());
}

// Sums of products of integers as integers of the result: by a_scale b_scale / y_scale.
Term requantized(NodeArgs& n, Term sums, Term scale, int y_zero) {
  const Term zero = n.in(y_zero);
  const Term y = (in_f32(sums) * scale).unary(kRoundNearestEven) + factor(n, y_zero, sums, 1);
  return saturated(y, dtype_of(zero));
}

Term convolved(NodeArgs& n, Term x, Term w) {
  return convolve(x, w, spatial_window(n, x.shape(), weight_kernel_shape(n, x, w)), n.integer("group", 1));
}

}  // namespace

Items lower_mat_mul_integer(NodeArgs& n) {
  const int rows = rank_of(n.in(0)) - 2, columns = rank_of(n.in(1)) - 1;
  return matmul(centred(n, 0, 2, std::max(rows, 0)), centred(n, 1, 3, columns));
}

Items lower_conv_integer(NodeArgs& n) { return convolved(n, centred(n, 0, 2, 1), centred(n, 1, 3, 0)); }

Items lower_q_linear_mat_mul(NodeArgs& n) {
  const int rows = rank_of(n.in(0)) - 2, columns = rank_of(n.in(3)) - 1;
  const Term sums = matmul(centred(n, 0, 2, std::max(rows, 0)), centred(n, 3, 5, columns));
  const int last = rank_of(sums) - 1;
  const Term scale = factor(n, 1, sums, std::max(last - 1, 0)) * factor(n, 4, sums, last) / factor(n, 6, sums, last);
  return requantized(n, sums, scale, 7);
}

Items lower_q_linear_conv(NodeArgs& n) {
  Term sums = convolved(n, centred(n, 0, 2, 1), centred(n, 3, 5, 0));
  if (n.has(8)) sums = add_bias(sums, n.in(8));
  return requantized(n, sums, factor(n, 1, sums, 1) * factor(n, 4, sums, 1) / factor(n, 6, sums, 1), 7);
}

}  // namespace ingot::onnx
