// What a triangular_solve solves.
#pragma once

#include "aot/graph/op.h"

namespace ingot::ops {

// op(A) X = B, or X op(A) = B, where op transposes or not, for a batch of triangular matrices A.
struct TriangularSolve {
  bool left_side = true;
  bool lower = false;          // A has its elements on and below the diagonal
  bool unit_diagonal = false;  // its diagonal counts as ones
  bool transposed = false;     // op transposes
  bool adjoint = false;        // and conjugates

  // Seen as M x = b for every column (row where left_side is false) b of B: M is A or its transpose, ...
  bool is_flipped() const { return transposed == left_side; }
  // ... and lower triangular, to be solved from the first element to the last, or upper.
  bool is_forward() const { return lower != is_flipped(); }
};

TriangularSolve read_triangular_solve(const Attrs& attrs);
AttrMap to_attrs(const TriangularSolve& solve);

Value* triangular_solve(GraphBuilder& b, Value* a, Value* right, const TriangularSolve& solve);

}  // namespace ingot::ops
