// Hurwitz's zeta function, in f64.
#include "aot/loops/math/functions.h"

namespace ingot::loops::math {
namespace {

// B2j / (2j)!
constexpr double kBernoulli[] = {0x1.5555555555555p-4,   -0x1.6c16c16c16c17p-10, 0x1.1566abc011567p-15,
                                 -0x1.bbd779334ef0bp-21, 0x1.66a8f2bf70ebep-26,  -0x1.22805d644267fp-31,
                                 0x1.d6db2c4e09162p-37,  -0x1.7da4e1f79955cp-42, 0x1.355871d652e9ep-47,
                                 -0x1.f57d968caacf1p-53, 0x1.967e1f09c376fp-58,  -0x1.497d9033a2b5cp-63};

// (x.high + x.low)^-s
Scalar inverse_power(const DoubleWord& x, const Scalar& s) {
  const Scalar correction = where((x.high < INFINITY) & (s < INFINITY), s * (x.low / x.high), 0);
  return power(x.high, -s) * (1 - correction);
}

// For s > 1 and q > 0: nine terms, then the integral from a = q + 9 on with Euler's and Maclaurin's corrections.
Scalar zeta_of_positive(const Scalar& s, const Scalar& q) {
  constexpr int kTerms = 9;
  const auto moved = [&](int k) { return sum(q, q.like(k)); };
  Scalar terms = power(q, -s);
  for (int k = 1; k < kTerms; ++k) terms = terms + inverse_power(moved(k), s);
  const DoubleWord a = moved(kTerms);
  const Scalar last = inverse_power(a, s);
  const Scalar reciprocal = 1 / a.high;
  const Scalar square = reciprocal * reciprocal;
  Scalar corrections = q.like(0.5), factor = s * reciprocal;  // s (s + 1) ... (s + 2j) / a^(2j + 1)
  for (int j = 0; j < static_cast<int>(std::size(kBernoulli)); ++j) {
    corrections = fma(factor, kBernoulli[j], corrections);
    factor = factor * ((s + (2 * j + 1)) * (s + (2 * j + 2))) * square;
  }
  const Scalar corrected = where(last > 0, last * corrections, 0);
  return terms + (inverse_power(a, s - 1) / (s - 1) + corrected);
}

Scalar zeta_f64(const Scalar& s, const Scalar& q) {
  const Scalar is_whole = equal(floor(s), s) & (s < INFINITY);
  const Scalar half = s * 0.5;
  const Scalar is_even = equal(floor(half), half);
  // Of the terms with q + k < 0 there are as many as of a zeta from the fraction f of |q| on, less those from |q| + 1;
  // what may cancel comes first.
  const Scalar is_positive = q > 0;
  const Scalar f = -q - floor(-q);
  const Scalar first = zeta_of_positive(s, where(is_positive, q, f));
  const Scalar second = zeta_of_positive(s, where(is_positive, 1, 1 - f));
  const Scalar excess = zeta_of_positive(s, where(is_positive, 1, 1 - q));
  const Scalar nearest = where(f < 0.5, -first, second);  // wins where both are infinite
  const Scalar unequal = where(equal(abs(nearest), INFINITY), nearest, second - first);
  const Scalar difference = where(equal(f, 0.5), 0, unequal);
  const Scalar of_negative = where(is_even, (second + first) - excess, difference + excess);
  const Scalar at_pole = where(is_even, INFINITY, q.like(NAN));
  const Scalar not_positive = where(is_whole, where(equal(floor(q), q), at_pole, of_negative), NAN);
  const Scalar value = where(is_positive, first, not_positive);
  const Scalar of_one = where(equal(s, 1), INFINITY, value);
  return where(is_nan(s) | is_nan(q) | (s < 1), NAN, of_one);
}

}  // namespace

Scalar zeta(const Scalar& s, const Scalar& q) {
  return zeta_f64(s.convert(DType::kF64), q.convert(DType::kF64)).convert(q.dtype());
}

}  // namespace ingot::loops::math
