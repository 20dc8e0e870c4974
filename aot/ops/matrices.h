// Tensors as batches of matrices, which are their last two dimensions: what factorisations and solves are made of.
#pragma once

#include "aot/graph/builder.h"

namespace ingot::ops {

// The operand is a batch of square matrices of floats. Gives their size.
int64_t check_square(const InferArgs& args, const TensorType& type);

// x y of each pair of matrices, either of them transposed.
Value* matmul(GraphBuilder& b, Value* x, Value* y, bool transpose_x = false, bool transpose_y = false);
Value* transposed(GraphBuilder& b, Value* x);

// Each matrix with zeros above (lower) or below the diagonal; `diagonal` is what the diagonal is multiplied by.
Value* triangle(GraphBuilder& b, Value* x, bool lower, double diagonal = 1);

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
