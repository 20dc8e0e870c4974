// Making tensors, masks and indexed reads.
#include <fmt/format.h>

#include <limits>

#include "aot/frontend/trace/broadcast.h"
#include "aot/frontend/trace/functions.h"

namespace ingot {
namespace {

// Keeps where column - row is on the wanted side of the diagonal.
Tensor triangle(const Tensor& x, int64_t diagonal, bool lower) {
  if (x.dim() < 2) fail(fmt::format("tril, triu: {} is not a matrix", to_string(x.type())));
  const TensorType index{DType::kI32, x.shape()};
  const Tensor row = wrap(ops::iota(builder(), index, x.dim() - 2));
  const Tensor column = wrap(ops::iota(builder(), index, x.dim() - 1));
  return where(lower ? column - row <= diagonal : column - row >= diagonal, x, zeros_like(x));
}

void check_index(const Tensor& index, const char* function) {
  if (is_integer(index.dtype())) return;
  fail(fmt::format("{}: the index must be of integers, not {}", function, to_string(index.type())));
}

// Rows of `table` [V, ...] at `ids` [...], as stablehlo.gather: the result is [ids..., rows...]. Indices clamp.
Value* gather_rows(Value* table, Value* ids) {
  const int64_t batch = ids->type.rank();
  std::vector<int64_t> offset_dims, slice_sizes = table->type.shape;
  for (int64_t i = 1; i < table->type.rank(); ++i) offset_dims.push_back(batch + i - 1);
  slice_sizes[0] = 1;
  DictAttr numbers{"stablehlo.gather",
                   {{"offset_dims", offset_dims},
                    {"collapsed_slice_dims", std::vector<int64_t>{0}},
                    {"start_index_map", std::vector<int64_t>{0}},
                    {"index_vector_dim", IntAttr{batch}}}};
  return builder().make(kGather, {table, ids},
                        {{"dimension_numbers", std::move(numbers)}, {"slice_sizes", slice_sizes}});
}

}  // namespace

Tensor full(const Dims& shape, const Tensor& value, DType dtype, Where at) {
  const Scope scope(at);
  return wrap(broadcast(value, dtype, shape));
}
Tensor zeros(const Dims& shape, DType dtype, Where at) { return full(shape, 0, dtype, at); }
Tensor ones(const Dims& shape, DType dtype, Where at) { return full(shape, 1, dtype, at); }
Tensor zeros_like(const In& x) { return full(x.tensor.shape(), 0, x.tensor.dtype(), x.at); }
Tensor ones_like(const In& x) { return full(x.tensor.shape(), 1, x.tensor.dtype(), x.at); }

Tensor arange(int64_t end, DType dtype, Where at) {
  const Scope scope(at);
  return wrap(ops::iota(builder(), {dtype, {end}}, 0));
}

Tensor tril(const In& x, int64_t diagonal) {
  const Scope scope(x.at);
  return triangle(x.tensor, diagonal, true);
}

Tensor triu(const In& x, int64_t diagonal) {
  const Scope scope(x.at);
  return triangle(x.tensor, diagonal, false);
}

Tensor one_hot(const In& labels, int64_t num_classes, DType dtype) {
  const Scope scope(labels.at);
  check_index(labels.tensor, "one_hot");
  Shape shape = labels.tensor.shape();
  shape.push_back(num_classes);
  const Tensor classes = wrap(ops::iota(builder(), {labels.tensor.dtype(), shape}, labels.tensor.dim()));
  return to(unsqueeze(labels.tensor, -1) == classes, dtype);
}

Tensor masked_fill(const In& x, const Tensor& mask, const Tensor& value) {
  const Scope scope(x.at);
  return where(mask, to(value, x.tensor.dtype()), x.tensor);
}

Tensor index_select(const In& x, int64_t dim, const Tensor& index) {
  const Scope scope(x.at);
  check_index(index, "index_select");
  if (index.dim() != 1) fail(fmt::format("index_select: the index must be a vector, not {}", to_string(index.type())));
  const int64_t axis = axis_of(dim, x.tensor.dim(), "index_select");
  const Tensor table = axis == 0 ? x.tensor : transpose(x.tensor, 0, axis);
  const Tensor rows = wrap(gather_rows(value_of(table), value_of(index)));
  return axis == 0 ? rows : transpose(rows, 0, axis);
}

// result[i][j] = x[index[i][j]][j] for dim 0: every dimension but `dim` is a batching dimension.
Tensor gather(const In& in, int64_t dim, const Tensor& index) {
  const Scope scope(in.at);
  Tensor x = in.tensor;
  check_index(index, "gather");
  const int64_t rank = x.dim(), axis = axis_of(dim, rank, "gather");
  if (index.dim() != rank) fail("gather: the index must have as many dimensions as the tensor");
  std::vector<int64_t> batching;
  for (int64_t i = 0; i < rank; ++i) {
    if (i == axis) continue;
    if (index.size(i) > x.size(i)) fail("gather: the index is larger than the tensor");
    x = slice(x, i, 0, index.size(i));
    batching.push_back(i);
  }
  DictAttr numbers{"stablehlo.gather",
                   {{"offset_dims", std::vector<int64_t>{}},
                    {"collapsed_slice_dims", std::vector<int64_t>{axis}},
                    {"operand_batching_dims", batching},
                    {"start_indices_batching_dims", batching},
                    {"start_index_map", std::vector<int64_t>{axis}},
                    {"index_vector_dim", IntAttr{rank}}}};
  return wrap(builder().make(kGather, {value_of(x), value_of(index)},
                             {{"dimension_numbers", std::move(numbers)}, {"slice_sizes", Shape(rank, 1)}}));
}

// Row padding_idx gets no gradient.
Tensor embedding(const In& ids, const Tensor& weight, std::optional<int64_t> padding_idx) {
  const Scope scope(ids.at);
  check_index(ids.tensor, "embedding");
  if (weight.dim() != 2) fail(fmt::format("embedding: the weight must be a matrix, not {}", to_string(weight.type())));
  const Tensor rows = wrap(gather_rows(value_of(weight), value_of(ids.tensor)));
  if (!padding_idx) return rows;
  const int64_t row = axis_of(*padding_idx, weight.size(0), "embedding: padding_idx");
  return where(unsqueeze(ids.tensor == row, -1), detach(rows), rows);
}

}  // namespace ingot
