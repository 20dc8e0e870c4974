#include "aot/ops/support/matrices/householder.h"

#include <cmath>

#include "aot/ops/support/matrices/matrices.h"
#include "aot/ops/support/matrices/triangular_solve.h"

namespace ingot::ops {

Value* reflection_vectors(GraphBuilder& b, Value* packed, int64_t count) {
  const int64_t rows = packed->type.shape[packed->type.rank() - 2];
  const Term below(b, triangle(b, block(b, packed, {0, rows}, {0, count}), true, 0));
  return where(is_diagonal(b, below.shape()), 1.0, below);
}

Value* reflected_part(GraphBuilder& b, Value* v, Value* taus, Value* x, bool transposed) {
  const Term gram(b, matmul(b, v, v, true));
  const int64_t count = gram.shape().back();
  Value* column = reshape(b, taus, with_extents(v->type, {count, 1}, taus->type.dtype).shape);
  Value* row = reshape(b, taus, with_extents(v->type, {1, count}, taus->type.dtype).shape);
  const Term s = gram * spread(b, row, gram.shape());  // what is not above the diagonal is not read
  const Term d = spread(b, column, x->type.shape);
  const TriangularSolve solve{.left_side = true, .lower = false, .unit_diagonal = true, .transposed = transposed};
  Value* tx =
      transposed ? triangular_solve(b, s, d * Term(b, x), solve) : d * Term(b, triangular_solve(b, s, x, solve));
  return matmul(b, v, tx);
}

void reflect_to_triangle(std::span<double> a, size_t rows, std::span<double> taus) {
  const size_t columns = a.size() / rows;
  const auto at = [&](size_t i, size_t j) -> double& { return a[i * columns + j]; };
  for (size_t k = 0; k < taus.size(); ++k) {
    double below = 0;
    for (size_t i = k + 1; i < rows; ++i) below = std::hypot(below, at(i, k));
    taus[k] = 0;
    if (below == 0) continue;
    const double alpha = at(k, k), beta = -std::copysign(std::hypot(alpha, below), alpha);
    taus[k] = (beta - alpha) / beta;
    at(k, k) = beta;
    for (size_t i = k + 1; i < rows; ++i) at(i, k) /= alpha - beta;
    for (size_t j = k + 1; j < columns; ++j) {
      double product = at(k, j);
      for (size_t i = k + 1; i < rows; ++i) product += at(i, k) * at(i, j);
      at(k, j) -= taus[k] * product;
      for (size_t i = k + 1; i < rows; ++i) at(i, j) -= taus[k] * product * at(i, k);
    }
  }
}

// The last reflection meets the columns of 1 first.
void multiply_reflections(std::span<const double> packed, std::span<const double> taus, size_t rows,
                          std::span<double> q) {
  const size_t columns = q.size() / rows;
  for (size_t j = 0; j < columns; ++j) q[j * columns + j] = 1;
  for (size_t k = taus.size(); k-- > 0;) {
    const auto v = [&](size_t i) { return i == k ? 1 : packed[i * columns + k]; };
    for (size_t j = 0; j < columns; ++j) {
      double product = 0;
      for (size_t i = k; i < rows; ++i) product += v(i) * q[i * columns + j];
      for (size_t i = k; i < rows; ++i) q[i * columns + j] -= taus[k] * product * v(i);
    }
  }
}

}  // namespace ingot::ops
