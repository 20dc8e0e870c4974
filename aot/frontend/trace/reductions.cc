// Reductions over dimensions.
#include <fmt/format.h>

#include "aot/frontend/trace/broadcast.h"
#include "aot/frontend/trace/functions.h"

namespace ingot {
namespace {

// The shape with `axes` gone, or of size 1.
Shape reduced_shape(const Shape& shape, const Dims& axes, bool keepdim) {
  Shape result;
  for (int64_t i = 0, next = 0; i < static_cast<int64_t>(shape.size()); ++i) {
    const bool is_reduced = next < static_cast<int64_t>(axes.size()) && axes[next] == i;
    next += is_reduced;
    if (!is_reduced) {
      result.push_back(shape[i]);
    } else if (keepdim) {
      result.push_back(1);
    }
  }
  return result;
}

Tensor reduce(const OpDef& op, Value* x, const Dims& axes, bool keepdim) {
  if (axes.empty()) return wrap(x);
  GraphBuilder& b = builder();
  return wrap(ops::reshape(b, ops::reduce(b, op, x, axes), reduced_shape(x->type.shape, axes, keepdim)));
}

Value* summable(const Tensor& x) {
  Value* value = value_of(x);
  return is_bool(value->type.dtype) ? ops::convert(builder(), value, DType::kI64) : value;
}

int64_t count_of(const Shape& shape, const Dims& axes) {
  int64_t count = 1;
  for (int64_t axis : axes) count *= shape[axis];
  return count;
}

}  // namespace

Tensor sum(const In& x, const Dims& dims, bool keepdim) {
  const Scope scope(x.at);
  return reduce(kAdd, summable(x.tensor), axes_of(dims, x.tensor.dim(), "sum"), keepdim);
}

Tensor mean(const In& x, const Dims& dims, bool keepdim) {
  const Scope scope(x.at);
  const Dims axes = axes_of(dims, x.tensor.dim(), "mean");
  const auto count = static_cast<double>(count_of(x.tensor.shape(), axes));
  return reduce(kAdd, float_value(x.tensor), axes, keepdim) / count;
}

// sum (x - mean)^2 / (count - correction)
Tensor var(const In& x, const Dims& dims, int64_t correction, bool keepdim) {
  const Scope scope(x.at);
  const Dims axes = axes_of(dims, x.tensor.dim(), "var");
  const Tensor centered = x.tensor - mean(x.tensor, axes, true);
  return sum(square(centered), axes, keepdim) / static_cast<double>(count_of(x.tensor.shape(), axes) - correction);
}

Tensor amax(const In& x, const Dims& dims, bool keepdim) {
  const Scope scope(x.at);
  return reduce(kMaximum, value_of(x.tensor), axes_of(dims, x.tensor.dim(), "amax"), keepdim);
}

Tensor amin(const In& x, const Dims& dims, bool keepdim) {
  const Scope scope(x.at);
  return reduce(kMinimum, value_of(x.tensor), axes_of(dims, x.tensor.dim(), "amin"), keepdim);
}

// The least index among the elements that equal the largest (or are NaN).
Tensor argmax(const In& in, int64_t dim, bool keepdim) {
  const Scope scope(in.at);
  const Tensor& x = in.tensor;
  const int64_t axis = axis_of(dim, x.dim(), "argmax");
  const Tensor is_largest = (x == amax(x, axis, true)) | (x != x);
  const Tensor index = wrap(ops::iota(builder(), {DType::kI32, x.shape()}, axis));
  return amin(where(is_largest, index, x.size(axis)), axis, keepdim);
}

}  // namespace ingot
