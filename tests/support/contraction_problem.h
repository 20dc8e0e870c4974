// Random contractions where templates change their mind: extents beside multiples of vectors, tiles, blocks and pages;
// operands that lie, or are made, in every way; results with and without what follows them.
#pragma once

#include "tests/support/schedule_fixture.h"

namespace ingot {

struct ContractionProblem {
  KernelFunction function;
  KernelTolerance tolerance;
  int64_t multiply_adds = 0;
};

// A pure function of its arguments, of at most so many multiply-adds.
ContractionProblem contraction_problem(unsigned seed, int64_t multiply_adds_max);

// A sum of n products in any order is within gamma_n * (the sum of their magnitudes) of the exact one; the reference is
// rounded once.
KernelTolerance sums_of(int64_t n, DType dtype = DType::kF32);

}  // namespace ingot
