// Random contractions where templates change their mind: extents beside multiples of vectors, tiles, blocks and pages;
// operands that lie, or are made, in every way; results with and without what follows them.
#pragma once

#include "aot/ops/support/dimension_numbers.h"
#include "tests/support/schedule_fixture.h"

namespace ingot {

inline TensorType f32_of(Shape shape) { return {DType::kF32, std::move(shape)}; }

struct RandomProblem {
  KernelFunction function;
  KernelTolerance tolerance;
  int64_t multiply_adds = 0;
};

inline const std::vector<int64_t> kSmallExtents = {0, 1, 1, 2, 3, 5, 7, 13, 2, 3, 5, 7, 4, 8, 17};  // of random ones

// Integers that wrap.
inline constexpr KernelTolerance kWrapping = {.integer_low = -(int64_t{1} << 31),
                                              .integer_high = (int64_t{1} << 31) - 1};

// A pure function of its arguments, of at most so many multiply-adds.
RandomProblem random_problem(unsigned seed, int64_t multiply_adds_max);

// A sum of n products in any order is within gamma_n * (the sum of their magnitudes) of the exact one; the reference is
// rounded once.
KernelTolerance sums_of(int64_t n, DType dtype = DType::kF32);

// Images and kernels in the usual order: [batch, channels, ...] and [out, in, ...].
inline ops::Convolution nchw(const ops::Window& window, int64_t groups = 1) {
  return {{0, 1, {2, 3}, 1, 0, {2, 3}, 0, 1, {2, 3}}, window, groups, 1};
}

}  // namespace ingot
