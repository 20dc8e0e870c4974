// Numbers as the unevaluated sum of two floats: twice the precision. The building blocks of Dekker (1971) and Knuth.
#pragma once

#include "aot/loops/algebra.h"

namespace ingot::loops::math {

struct DoubleWord {
  Scalar high, low;
};

// x + y exactly, for |x| >= |y| or x = 0.
inline DoubleWord fast_sum(const Scalar& x, const Scalar& y) {
  const Scalar sum = x + y;
  return {sum, y - (sum - x)};
}

// x + y exactly.
inline DoubleWord sum(const Scalar& x, const Scalar& y) {
  const Scalar sum = x + y;
  const Scalar y_in_sum = sum - x;
  return {sum, (x - (sum - y_in_sum)) + (y - y_in_sum)};
}

// x * y exactly.
inline DoubleWord product(const Scalar& x, const Scalar& y) {
  const Scalar high = x * y;
  return {high, fma(x, y, -high)};
}

}  // namespace ingot::loops::math
