#include "aot/ops/support/matrices/matrices.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "aot/base/divide.h"
#include "aot/ops/support/index.h"

namespace ingot::ops {

int64_t check_square(const InferArgs& args, const TensorType& type) {
  const int rank = type.rank();
  if (rank < 2 || type.shape[rank - 1] != type.shape[rank - 2]) {
    args.fail(fmt::format("{} is no batch of square matrices", to_string(type)));
  }
  if (!is_float(type.dtype) && !is_complex(type.dtype)) {
    args.fail(fmt::format("{} is no tensor of floats or complex numbers", to_string(type)));
  }
  return type.shape.back();
}

int64_t check_matrices(const InferArgs& args, const TensorType& type) {
  const int rank = type.rank();
  if (rank < 2 || (type.dtype != DType::kF32 && type.dtype != DType::kF64)) {
    args.fail(fmt::format("{} is no batch of matrices of f32 or f64", to_string(type)));
  }
  return std::min(type.shape[rank - 2], type.shape[rank - 1]);
}

TensorType with_extents(const TensorType& type, const Shape& extents, DType dtype) {
  Shape shape(type.shape.begin(), type.shape.end() - 2);
  shape.insert(shape.end(), extents.begin(), extents.end());
  return {dtype, shape};
}

Value* matmul(GraphBuilder& b, Value* x, Value* y, bool transpose_x, bool transpose_y) {
  const int rank = x->type.rank();
  const std::vector<int64_t> batch = iota_dims(rank - 2);
  return dot_general(b, x, y,
                     {.lhs_batch = batch,
                      .rhs_batch = batch,
                      .lhs_contract = {transpose_x ? rank - 2 : rank - 1},
                      .rhs_contract = {transpose_y ? rank - 1 : rank - 2}});
}

Value* transposed(GraphBuilder& b, Value* x) {
  std::vector<int64_t> permutation = iota_dims(x->type.rank());
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  return transpose(b, x, permutation);
}

namespace {

Term numbers(GraphBuilder& b, const Shape& shape, size_t from_last) {
  return {b, iota(b, {DType::kI32, shape}, static_cast<int64_t>(shape.size() - from_last))};
}

Value* slice_at(GraphBuilder& b, Value* x, Value* k, size_t from_last) {
  Shape sizes = x->type.shape;
  Values starts(sizes.size(), constant(b, k->type, 0));
  starts[sizes.size() - from_last] = k;
  sizes[sizes.size() - from_last] = 1;
  return dynamic_slice(b, x, starts, sizes);
}

Value* reduced(GraphBuilder& b, const OpDef& op, Value* x, size_t from_last) {
  Shape shape = x->type.shape;
  const size_t axis = shape.size() - from_last;
  shape[axis] = 1;
  return reshape(b, reduce(b, op, x, {static_cast<int64_t>(axis)}), shape);
}

}  // namespace

Term row_numbers(GraphBuilder& b, const Shape& shape) { return numbers(b, shape, 2); }
Term column_numbers(GraphBuilder& b, const Shape& shape) { return numbers(b, shape, 1); }

Term is_diagonal(GraphBuilder& b, const Shape& shape) { return equal(row_numbers(b, shape), column_numbers(b, shape)); }

Term spread(GraphBuilder& b, Value* x, const Shape& shape) {
  return {b, broadcast_in_dim(b, x, shape, iota_dims(x->type.rank()))};
}

Value* row_at(GraphBuilder& b, Value* x, Value* k) { return slice_at(b, x, k, 2); }
Value* column_at(GraphBuilder& b, Value* x, Value* k) { return slice_at(b, x, k, 1); }

Value* take_rows(GraphBuilder& b, Value* x, Value* rows) {
  const int rank = x->type.rank();
  IndexedDims dims;
  dims.window_dims = {rank - 1};
  dims.dropped_dims = dims.index_map = {rank - 2};
  dims.operand_batch = dims.indices_batch = iota_dims(rank - 2);
  dims.index_vector_dim = rank - 1;
  Shape sizes = x->type.shape;
  for (int d = 0; d < rank - 1; ++d) sizes[d] = std::min<int64_t>(sizes[d], 1);
  return gather(b, x, rows, dims, sizes);
}

Value* reduce_columns(GraphBuilder& b, const OpDef& op, Value* x) { return reduced(b, op, x, 2); }
Value* reduce_rows(GraphBuilder& b, const OpDef& op, Value* x) { return reduced(b, op, x, 1); }

Value* triangle(GraphBuilder& b, Value* x, bool lower, double diagonal) {
  const Term value(b, x), row = row_numbers(b, x->type.shape), column = column_numbers(b, x->type.shape);
  const Term inside = where(lower ? row > column : row < column, value, 0.0);
  if (diagonal == 0) return inside;
  const Term on_diagonal = diagonal == 1 ? value : value * diagonal;
  return where(equal(row, column), on_diagonal, inside);
}

Value* block(GraphBuilder& b, Value* x, Range rows, Range columns) {
  const int rank = x->type.rank();
  Shape start(rank, 0), limit = x->type.shape;
  start[rank - 2] = rows.first;
  limit[rank - 2] = rows.limit;
  start[rank - 1] = columns.first;
  limit[rank - 1] = columns.limit;
  return slice(b, x, start, limit, Shape(rank, 1));
}

int64_t first_part(int64_t size) { return round_up(size / 2, kBlock); }

}  // namespace ingot::ops
