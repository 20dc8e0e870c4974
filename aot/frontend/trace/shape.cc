// Functions that move elements and change shapes.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "aot/base/contains.h"
#include "aot/base/divide.h"
#include "aot/base/join.h"
#include "aot/frontend/trace/broadcast.h"
#include "aot/frontend/trace/functions.h"

namespace ingot {
namespace {

Tensor reshaped(const Tensor& x, const Shape& shape) { return wrap(ops::reshape(builder(), value_of(x), shape)); }

}  // namespace

Tensor reshape(const In& in, const Dims& shape) {
  const Scope scope(in.at);
  Shape result = shape;
  const int64_t count = in.tensor.numel();
  int64_t known = 1, inferred = -1;
  for (size_t i = 0; i < result.size(); ++i) {
    if (result[i] != -1) {
      known *= result[i];
    } else if (inferred != -1) {
      fail("reshape: only one size can be -1");
    } else {
      inferred = static_cast<int64_t>(i);
    }
  }
  if (inferred != -1 && known != 0 && count % known == 0) result[inferred] = count / known;
  if (contains(result, -1) || element_count(result) != count) {
    fail(fmt::format("reshape: {} has {} elements and does not fit [{}]", to_string(in.tensor.type()), count,
                     join(shape, ", ")));
  }
  return reshaped(in.tensor, result);
}

Tensor flatten(const In& x, int64_t start_dim, int64_t end_dim) {
  const Scope scope(x.at);
  const Shape& shape = x.tensor.shape();
  if (shape.empty()) return reshaped(x.tensor, {1});
  const int64_t start = axis_of(start_dim, x.tensor.dim(), "flatten");
  const int64_t end = axis_of(end_dim, x.tensor.dim(), "flatten");
  if (start > end) fail("flatten: start_dim comes after end_dim");
  Shape result(shape.begin(), shape.begin() + start);
  result.push_back(element_count({shape.begin() + start, shape.begin() + end + 1}));
  result.insert(result.end(), shape.begin() + end + 1, shape.end());
  return reshaped(x.tensor, result);
}

Tensor permute(const In& x, const Dims& dims) {
  const Scope scope(x.at);
  if (static_cast<int64_t>(axes_of(dims, x.tensor.dim(), "permute").size()) != x.tensor.dim()) {
    fail(fmt::format("permute: {} needs {} dimensions", to_string(x.tensor.type()), x.tensor.dim()));
  }
  std::vector<int64_t> permutation;
  for (int64_t dim : dims) permutation.push_back(axis_of(dim, x.tensor.dim(), "permute"));
  return wrap(ops::transpose(builder(), value_of(x.tensor), permutation));
}

Tensor transpose(const In& x, int64_t dim0, int64_t dim1) {
  const Scope scope(x.at);
  Dims dims(static_cast<size_t>(x.tensor.dim()), 0);
  std::iota(dims.begin(), dims.end(), 0);
  std::swap(dims[axis_of(dim0, x.tensor.dim(), "transpose")], dims[axis_of(dim1, x.tensor.dim(), "transpose")]);
  return permute(x.tensor, dims);
}

Tensor unsqueeze(const In& x, int64_t dim) {
  const Scope scope(x.at);
  Shape shape = x.tensor.shape();
  shape.insert(shape.begin() + axis_of(dim, x.tensor.dim() + 1, "unsqueeze"), 1);
  return reshaped(x.tensor, shape);
}

Tensor squeeze(const In& x, int64_t dim) {
  const Scope scope(x.at);
  Shape shape = x.tensor.shape();
  const int64_t axis = axis_of(dim, x.tensor.dim(), "squeeze");
  if (shape[axis] == 1) shape.erase(shape.begin() + axis);
  return reshaped(x.tensor, shape);
}

Tensor expand(const In& x, const Dims& shape) {
  const Scope scope(x.at);
  Shape result = shape;
  const Shape& own = x.tensor.shape();
  if (result.size() < own.size()) fail("expand: fewer sizes than dimensions");
  for (size_t i = 0; i < own.size(); ++i) {
    int64_t& size = result[result.size() - own.size() + i];
    if (size == -1) size = own[i];
    if (own[i] != 1 && own[i] != size) {
      fail(fmt::format("expand: {} does not stretch to [{}]", to_string(x.tensor.type()), join(shape, ", ")));
    }
  }
  return wrap(broadcast(x.tensor, x.tensor.dtype(), result));
}

Tensor cat(const std::vector<Tensor>& xs, int64_t dim, Where at) {
  const Scope scope(at);
  if (xs.empty()) fail("cat: no tensors");
  DType dtype = xs[0].dtype();
  for (const Tensor& x : xs) dtype = wider_dtype(dtype, x.dtype());
  Values values;
  for (const Tensor& x : xs) values.push_back(ops::convert(builder(), value_of(x), dtype));
  return wrap(ops::concatenate(builder(), values, axis_of(dim, xs[0].dim(), "cat")));
}

Tensor stack(const std::vector<Tensor>& xs, int64_t dim, Where at) {
  const Scope scope(at);
  std::vector<Tensor> rows;
  for (const Tensor& x : xs) rows.push_back(unsqueeze(x, dim));
  return cat(rows, dim);
}

Tensor slice(const In& in, int64_t dim, int64_t start, int64_t end, int64_t step) {
  const Scope scope(in.at);
  const Tensor& x = in.tensor;
  const int64_t axis = axis_of(dim, x.dim(), "slice");
  if (step < 1) fail("slice: the step must be positive");
  const int64_t size = x.size(axis);
  const auto position = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size); };
  Shape from(x.dim(), 0), limit = x.shape(), strides(x.dim(), 1);
  from[axis] = position(start);
  limit[axis] = std::max(position(end), from[axis]);
  strides[axis] = step;
  return wrap(ops::slice(builder(), value_of(x), from, limit, strides));
}

Tensor select(const In& x, int64_t dim, int64_t index) {
  const Scope scope(x.at);
  const int64_t size = x.tensor.size(dim);
  if (index < -size || index >= size) fail(fmt::format("select: index {} is outside of a size of {}", index, size));
  const int64_t at = index < 0 ? index + size : index;
  return squeeze(slice(x.tensor, dim, at, at + 1), dim);
}

std::vector<Tensor> split(const In& x, int64_t split_size, int64_t dim) {
  const Scope scope(x.at);
  if (split_size < 1) fail("split: the size must be positive");
  std::vector<Tensor> parts;
  for (int64_t at = 0; at < x.tensor.size(dim); at += split_size) {
    parts.push_back(slice(x.tensor, dim, at, at + split_size));
  }
  return parts;
}

std::vector<Tensor> chunk(const In& x, int64_t chunks, int64_t dim) {
  const Scope scope(x.at);
  if (chunks < 1) fail("chunk: the number of chunks must be positive");
  return split(x.tensor, std::max<int64_t>(divide_up(x.tensor.size(dim), chunks), 1), dim);
}

Tensor flip(const In& x, const Dims& dims) {
  const Scope scope(x.at);
  return wrap(ops::reverse(builder(), value_of(x.tensor), axes_of(dims, x.tensor.dim(), "flip")));
}

Tensor pad(const In& x, const Dims& padding, double value) {
  const Scope scope(x.at);
  const int64_t rank = x.tensor.dim();
  if (padding.size() % 2 != 0 || static_cast<int64_t>(padding.size()) > 2 * rank) {
    fail(fmt::format("pad: {} takes up to {} pairs of sizes, last dimension first", to_string(x.tensor.type()), rank));
  }
  Shape low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < padding.size() / 2; ++i) {
    low[rank - 1 - i] = padding[2 * i];
    high[rank - 1 - i] = padding[2 * i + 1];
  }
  Value* filler = ops::constant(builder(), {x.tensor.dtype(), {}}, value);
  return wrap(ops::pad(builder(), value_of(x.tensor), filler, low, high, Shape(rank, 0)));
}

}  // namespace ingot
