// Orthogonal matrices Q = H₁ H₂ ⋯ of Householder reflections Hₖ = 1 - τₖ vₖ vₖᵀ, as LAPACK keeps them: vₖ has zeros
// before element k, a one there, and its other elements in column k below the diagonal.
//
// With V of columns vₖ and D of diagonal τₖ:  Q = 1 - V T Vᵀ,  T = D S⁻¹,  S = 1 + (VᵀV, above its diagonal) D.
// Puglisi, "Modification of the Householder method based on the compact WY representation" (1992).
#pragma once

#include <span>

#include "aot/graph/builder.h"

namespace ingot::ops {

// V [..., m, k] of packed matrices [..., m, n], k <= n.
Value* reflection_vectors(GraphBuilder& b, Value* packed, int64_t count);

// V T X, or with `transposed` V Tᵀ X, for X [..., k, c].
Value* reflected_part(GraphBuilder& b, Value* v, Value* taus, Value* x, bool transposed);

// What the ops mean, for one matrix of `rows` rows, row-major. In place: R, and below it the vectors. A column that is
// zero below its diagonal stays, with τ = 0.
void reflect_to_triangle(std::span<double> a, size_t rows, std::span<double> taus);
// The first columns of Q, into zeros.
void multiply_reflections(std::span<const double> packed, std::span<const double> taus, size_t rows,
                          std::span<double> q);

}  // namespace ingot::ops
