// Factorisations of complex matrices by those of real matrices of twice the size: a complex element a + ib is the block
// [[a, -b], [b, a]].
#pragma once

#include "aot/ops/support/matrices/triangular_solve.h"

namespace ingot::ops {

// The factor of a Hermitian positive definite matrix.
Value* complex_cholesky(GraphBuilder& b, Value* a, bool lower);

Value* complex_triangular_solve(GraphBuilder& b, Value* a, Value* right, const TriangularSolve& solve);

}  // namespace ingot::ops
