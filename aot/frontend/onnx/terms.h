// Tensors as ONNX and NumPy see them, in terms of StableHLO: broadcasting, axes, slices, stacks of matrices.
#pragma once

#include "aot/ops/support/algebra.h"

namespace ingot::onnx {

inline DType dtype_of(Term x) { return static_cast<Value*>(x)->type.dtype; }
inline const TensorType& type_of(Term x) { return static_cast<Value*>(x)->type; }
inline int rank_of(Term x) { return static_cast<int>(x.shape().size()); }
std::vector<int64_t> all_axes(Term x);

// --- making ----------------------------------------------------------------------------------------------------------
Term constant(GraphBuilder& b, const TensorType& type, double value);  // a splat
Term floats(GraphBuilder& b, const TensorType& type, const std::vector<double>& values);
Term integers(GraphBuilder& b, const TensorType& type, const std::vector<int64_t>& values);
Term counted(Term like, const TensorType& type, int64_t axis);  // 0, 1, 2, ... along an axis

// --- shapes ----------------------------------------------------------------------------------------------------------
Shape broadcast_shape(const Shape& x, const Shape& y);  // NumPy's; an Error where they do not fit
Term broadcast(Term x, const Shape& shape);             // dimensions are matched from the last on
// Every x with the shape that they have together.
std::vector<Term> broadcast_all(std::vector<Term> xs);
Term reshape(Term x, const Shape& shape);
Term unsqueeze(Term x, int64_t axis);
Term transpose(Term x, const std::vector<int64_t>& permutation);
Term swap_axes(Term x, int64_t a, int64_t b);
Term move_axis(Term x, int64_t from, int64_t to);
Term slice(Term x, int64_t axis, int64_t start, int64_t end, int64_t step = 1);
Term at_index(Term x, int64_t axis, int64_t index);  // without the axis
Term reverse(Term x, int64_t axis);
Term concat(const std::vector<Term>& xs, int64_t axis);
Term pad(Term x, double value, const Shape& low, const Shape& high);  // negative: cuts off
Term pad_axis(Term x, double value, int64_t axis, int64_t low, int64_t high);
// A tensor along one axis of a shape of so many dimensions: [n] as [1, n, 1, 1].
Term along(Term vector, int64_t axis, int rank);

// --- reductions: the axes stay, with one element ---------------------------------------------------------------------
Term reduce(const OpDef& op, Term x, const std::vector<int64_t>& axes);
Term mean(Term x, const std::vector<int64_t>& axes);
Shape without(const Shape& shape, const std::vector<int64_t>& axes);
Term softmax(Term x, int64_t axis);
Term log_softmax(Term x, int64_t axis);
struct Extremes {
  Term values, indices;  // of rank one less; i32
};
// Of equal ones the first, or the last one.
Extremes extremes(Term x, int64_t axis, bool greatest, bool last = false);
struct Sorted {
  Term values, indices;  // i32
};
Sorted sort(Term x, int64_t axis, bool descending);

// --- elements --------------------------------------------------------------------------------------------------------
inline Term max(Term x, Term y) { return x.binary(kMaximum, y); }
inline Term min(Term x, Term y) { return x.binary(kMinimum, y); }
inline Term max(Term x, double y) { return max(x, x.like(y)); }
inline Term min(Term x, double y) { return min(x, x.like(y)); }
inline Term either(Term x, Term y) { return x.binary(kOr, y); }
inline Term negated(Term x) { return x.unary(kNot); }
inline Term tanh(Term x) { return x.unary(kTanh); }
inline Term sigmoid(Term x) { return x.unary(kLogistic); }
inline Term square_root(Term x) { return x.unary(kSqrt); }
inline Term floor(Term x) { return x.unary(kFloor); }
Term is_nan(Term x);
Term softplus(Term x);  // log(1 + exp(x)), without overflow
// f16 and narrower as f32, in which they are computed; others as they are.
Term widened(Term x);
// As integers, as far as the dtype reaches.
Term saturated(Term x, DType dtype);

// --- products and moves by index -------------------------------------------------------------------------------------
// The same as numpy.matmul: vectors, matrices, and stacks of them that broadcast.
Term matmul(Term x, Term y);
// x [M, K] by y [K, N] in each of the same leading dimensions.
Term batched_product(Term x, Term y);
// numpy.take: the axis is replaced by the dimensions of the indices. Negative indices count from the end.
Term take(Term x, Term indices, int64_t axis);
// x[.., indices[..], ..]: an index for each element of the result, along one axis. No index is negative.
Term gather_elements(Term x, Term indices, int64_t axis);
// Negative indices count from the end.
Term from_end(Term indices, int64_t size);

}  // namespace ingot::onnx
