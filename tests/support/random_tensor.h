// Random tensors for the reference evaluator, and comparison of what it gives.
#pragma once

#include <vector>

#include "aot/graph/graph.h"
#include "aot/graph/tensor.h"

namespace ingot {

// The same on every machine: xorshift64*.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}

  uint64_t bits();
  int64_t below(int64_t count) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(count)); }
  bool chance(double probability) { return uniform() < probability; }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)
  template <typename T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[below(static_cast<int64_t>(choices.size()))];
  }

 private:
  uint64_t state_;
};

// Floats in [-2, 2], rounded to the dtype; integers in [-8, 8] (unsigned: [0, 16]); truth values.
RefTensor random_tensor(const TensorType& type, Random& random);

// Uniform floats in [low, high), rounded to the dtype, that follow from `seed` alone; integers are truncated.
RefTensor random_tensor(const TensorType& type, uint64_t seed, double low = -1, double high = 1);

std::vector<RefTensor> random_arguments(const Function& function, uint64_t seed);

struct Tolerance {
  double ulp = 0;       // in units in the last place of the dtype, at the larger magnitude
  double absolute = 0;  // differences up to this are fine
};

// Fails the current test for the first element that differs. NaN equals NaN, and zeros equal each other.
void expect_equal(const std::vector<RefTensor>& actual, const std::vector<RefTensor>& expected, const Tolerance& = {});

}  // namespace ingot
