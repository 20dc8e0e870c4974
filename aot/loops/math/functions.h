// The functions behind expand, one file a family. Each takes f32 or f64 and gives the same.
#pragma once

#include <cmath>
#include <span>

#include "aot/loops/algebra.h"

namespace ingot::loops::math {

// exp.cc
Scalar exp(const Scalar& x);
Scalar expm1(const Scalar& x);
Scalar logistic(const Scalar& x);
Scalar tanh(const Scalar& x);
Scalar exp_sum(const Scalar& x, const Scalar& tail);  // e^(x + tail) for a tail below a unit in the last place of x
Scalar expm1_in_range(const Scalar& x);               // e^x - 1 for |x| at most 60

// log.cc
Scalar log(const Scalar& x);
Scalar log1p(const Scalar& x);

// power.cc
Scalar power(const Scalar& x, const Scalar& y);

// roots.cc
Scalar rsqrt(const Scalar& x);
Scalar cbrt(const Scalar& x);

// trig.cc
Scalar sin(const Scalar& x);
Scalar cos(const Scalar& x);
Scalar tan(const Scalar& x);
Scalar atan2(const Scalar& y, const Scalar& x);

// erf.cc
Scalar erf(const Scalar& x);
Scalar erfc(const Scalar& x);
Scalar erf_inv(const Scalar& x);

// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
Scalar polynomial(const Scalar& x, std::span<const double> coefficients);

// A function of f64 on values of f32: right to half a unit in the last place, at half the lanes.
template <auto f>
Scalar through_f64(const Scalar& x) {
  return f(x.convert(DType::kF64)).convert(DType::kF32);
}

// x with the sign bit of y set: for an odd function's result, which loses it only where it is zero.
Scalar with_sign_of(const Scalar& x, const Scalar& y);

// 2^n for an integer n (of x's width) within the normal exponents of x's dtype.
Scalar power_of_two(const Scalar& n, DType dtype);

// A float dtype's numbers that bit tricks need.
struct Layout {
  int mantissa_bits;
  int bias;
  double shift;  // 1.5 * 2^mantissa_bits: x + shift holds the integer nearest to x in its low bits
};
const Layout& layout_of(DType dtype);

// An integer n of a float's width with |n| < 2^(mantissa_bits - 1), as that float: cheaper than a conversion.
Scalar to_float(const Scalar& n, DType dtype);

}  // namespace ingot::loops::math
