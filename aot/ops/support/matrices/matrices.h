// Tensors as batches of matrices, which are their last two dimensions: what factorisations and solves are made of.
#pragma once

#include "aot/ops/support/algebra.h"

namespace ingot::ops {

// A row of an op that takes matrices apart: it is made of loops, in which errors add up.
constexpr OpDef decomposition(OpDef def) {
  def.root = KernelRoot::kNone;
  def.ulp = {.f32 = 64, .f64 = 64};
  return def;
}

// The operand is a batch of square matrices of floats. Gives their size.
int64_t check_square(const InferArgs& args, const TensorType& type);

// The operand is a batch of matrices of f32 or f64: what is decomposed. Gives the lesser extent.
int64_t check_matrices(const InferArgs& args, const TensorType& type);

// `type` with these extents after the batch dimensions.
TensorType with_extents(const TensorType& type, const Shape& extents, DType dtype);

// x y of each pair of matrices, either of them transposed.
Value* matmul(GraphBuilder& b, Value* x, Value* y, bool transpose_x = false, bool transpose_y = false);
Value* transposed(GraphBuilder& b, Value* x);

// Each matrix with zeros above (lower) or below the diagonal; `diagonal` is what the diagonal is multiplied by.
Value* triangle(GraphBuilder& b, Value* x, bool lower, double diagonal = 1);

// Each element's row, or column.
Term row_numbers(GraphBuilder& b, const Shape& shape);
Term column_numbers(GraphBuilder& b, const Shape& shape);

// Whether each element stands on the diagonal.
Term is_diagonal(GraphBuilder& b, const Shape& shape);

// x, whose extents of 1 are repeated to those of `shape`.
Term spread(GraphBuilder& b, Value* x, const Shape& shape);

// Row or column k, a scalar, of each matrix: [..., 1, n] or [..., m, 1].
Value* row_at(GraphBuilder& b, Value* x, Value* k);
Value* column_at(GraphBuilder& b, Value* x, Value* k);

// The rows [..., r] of matrices [..., m, n]: [..., r, n].
Value* take_rows(GraphBuilder& b, Value* x, Value* rows);

// The elements of each column, or of each row, combined by an op of ops::reduce: [..., 1, n] or [..., m, 1].
Value* reduce_columns(GraphBuilder& b, const OpDef& op, Value* x);
Value* reduce_rows(GraphBuilder& b, const OpDef& op, Value* x);

// Rows and columns first .. limit of the last two dimensions.
struct Range {
  int64_t first, limit;
};
Value* block(GraphBuilder& b, Value* x, Range rows, Range columns);

// A matrix is cut in two for its parts to be treated one after the other, as long as it is larger than this.
inline constexpr int64_t kBlock = 64;
// The size of the first part, a multiple of kBlock.
int64_t first_part(int64_t size);

}  // namespace ingot::ops
