#include "aot/ops/support/matrices/complex_matrices.h"

#include "aot/ops/support/index.h"
#include "aot/ops/support/matrices/matrices.h"

namespace ingot::ops {
namespace {

Parts parts_of(GraphBuilder& b, Value* z) {
  Value* re = unary(b, kReal, z);
  return {re, unary(b, kImag, z)};
}

// x and y of [..., n] in turn: [..., 2n], along one dimension.
Value* interleave(GraphBuilder& b, Value* x, Value* y, int64_t axis) {
  Shape split = x->type.shape;
  split.insert(split.begin() + axis + 1, 1);
  Value* first = reshape(b, x, split);
  Value* both = concatenate(b, {first, reshape(b, y, split)}, axis + 1);
  Shape joined = x->type.shape;
  joined[axis] *= 2;
  return reshape(b, both, joined);
}

// Each second element along a dimension, from the first or the second on.
Value* every_other(GraphBuilder& b, Value* x, int64_t axis, int64_t start) {
  Shape from(x->type.shape.size(), 0), limit = x->type.shape, strides(limit.size(), 1);
  from[axis] = start;
  strides[axis] = 2;
  return slice(b, x, from, limit, strides);
}

Value* blocks(GraphBuilder& b, const Parts& a) {
  const int rank = a.re->type.rank();
  Value* above = interleave(b, a.re, negate(b, a.im), rank - 1);
  Value* below = interleave(b, a.im, a.re, rank - 1);
  return interleave(b, above, below, rank - 2);
}

Value* complex_of(GraphBuilder& b, Value* re, Value* im) { return binary(b, kComplexOf, re, im); }

}  // namespace

// The diagonal of the factor is real, so that its blocks are triangular, too.
Value* complex_cholesky(GraphBuilder& b, Value* a, bool lower) {
  const int rank = a->type.rank();
  Value* factor = b.make(kCholesky, {blocks(b, parts_of(b, a))}, {{"lower", lower}});
  Value* columns = every_other(b, factor, rank - 1, 0);
  Value* re = every_other(b, columns, rank - 2, 0);
  return complex_of(b, re, every_other(b, columns, rank - 2, 1));
}

// The matrix is divided by its diagonal first, whose blocks would not be triangular: with M = op(A) and its diagonal D,
//   M X = B:  (D⁻¹ M) X = D⁻¹ B        X M = B:  X (M D⁻¹) = B D⁻¹
// Rows of numbers meet blocks of the conjugate matrix, columns those of the matrix;
// a transposed block is that of the conjugate.
Value* complex_triangular_solve(GraphBuilder& b, Value* a, Value* right, const TriangularSolve& solve) {
  const int rank = a->type.rank();
  const int64_t along = solve.left_side ? rank - 2 : rank - 1;  // of the unknowns in `right`
  const Term diagonal = is_diagonal(b, a->type.shape);
  if (!solve.unit_diagonal) {
    const int64_t scaled =
        solve.left_side != solve.transposed ? rank - 2 : rank - 1;  // the dimension of A that D goes by
    const std::vector<int64_t> kept = other_dims(rank, {rank - 1});
    Value* divisors = reduce(b, kAdd, where(diagonal, Term(b, a), 0.0), {rank - 1});
    const auto spread = [&](Value* values, const Shape& shape, int64_t axis) {
      std::vector<int64_t> dims = kept;
      dims.back() = axis;
      return broadcast_in_dim(b, values, shape, dims);
    };
    Value* of_a = spread(divisors, a->type.shape, scaled);
    if (solve.adjoint) divisors = unary(b, kConj, divisors);
    a = divide(b, a, of_a);
    right = divide(b, right, spread(divisors, right->type.shape, along));
  }
  Parts matrix = parts_of(b, a);
  if ((solve.transposed && !solve.adjoint) != !solve.left_side) matrix.im = negate(b, matrix.im);
  matrix.im = where(diagonal, 0.0, Term(b, matrix.im));
  const Parts known = parts_of(b, right);
  TriangularSolve real = solve;
  real.unit_diagonal = true;
  Value* sides = interleave(b, known.re, known.im, along);
  Value* x = triangular_solve(b, blocks(b, matrix), sides, real);
  Value* re = every_other(b, x, along, 0);
  return complex_of(b, re, every_other(b, x, along, 1));
}

}  // namespace ingot::ops
