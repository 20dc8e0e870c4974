#include "aot/ops/matrices.h"

#include <fmt/format.h>

#include <numeric>

#include "aot/ops/algebra.h"
#include "aot/ops/index.h"

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

Value* triangle(GraphBuilder& b, Value* x, bool lower, double diagonal) {
  const int rank = x->type.rank();
  const TensorType positions{DType::kI32, x->type.shape};
  const Term value(b, x), row(b, iota(b, positions, rank - 2)), column(b, iota(b, positions, rank - 1));
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

int64_t first_part(int64_t size) { return (size / 2 + kBlock - 1) / kBlock * kBlock; }

}  // namespace ingot::ops
