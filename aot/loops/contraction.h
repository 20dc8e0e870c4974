// A contraction: out[b, m, n] = sum over k of lhs(b, m, k) * rhs(b, k, n). dot_general and convolution, forward and
// both gradients, are this; they differ in how a point of the iteration space finds its operand elements.
#pragma once

#include <algorithm>
#include <vector>

#include "aot/graph/access_map.h"

namespace ingot::loops {

// One dimension of the iteration space.
struct ContractionDim {
  enum class Kind : uint8_t { kBatch, kM, kN, kK };
  Kind kind;
  int64_t extent;
};

// Points at which index[ahead] > index[behind] + offset.
struct ContractionTriangle {
  int ahead, behind;  // dimensions of the iteration space
  int64_t offset;
};

// Where a point has no element of an operand, that is zero; divisors are base (lhs) dilation.
struct Contraction {
  std::vector<ContractionDim> dims;
  std::vector<AxisMap> lhs;  // one for each dimension of operand 0; never depends on kN dims
  std::vector<AxisMap> rhs;  // one for each dimension of operand 1; never depends on kM dims
  // One for each result dimension; depends on batch, M and N dims only, each exactly once overall with a mixed-radix map
  // (divisor 1), so that the result is covered exactly.
  std::vector<AxisMap> out;
  DType accumulate = DType::kF32;  // f16, bf16 -> f32; integers -> i32 or wider, as the result
  // The operand whose elements are four unsigned bytes each, where those of the other are four signed ones, and a product
  // is that of their bytes, summed up (ScalarOp::kDotBytes); -1: elements are numbers.
  int unsigned_bytes = -1;

  // Elements of the operands are two bf16 each, in words of i32; a product is the sum of theirs (is_dot_pairs).
  bool multiplies_pairs = false;

  // Whose products are 0, or belong to results that nobody needs: these may be anything that is a number.
  std::vector<ContractionTriangle> triangles;

  bool multiplies_bytes() const { return unsigned_bytes >= 0; }
  DType factor() const { return multiplies_pairs ? DType::kI32 : accumulate; }  // as what elements are multiplied

  // For one element of the result.
  int64_t products_in_a_sum() const {
    int64_t count = 1;
    for (const ContractionDim& dim : dims) count *= dim.kind == ContractionDim::Kind::kK ? dim.extent : 1;
    return count;
  }

  // The dimension of the result along which an operand's dimension runs; -1: that one is summed.
  int64_t result_dim(const AxisMap& axis) const {
    const auto same = std::ranges::find(out, axis.coefficients, &AxisMap::coefficients);
    return same == out.end() ? -1 : same - out.begin();
  }
};

}  // namespace ingot::loops
