// The functions behind expand, one file a family. Each takes f32 or f64 and gives the same.
#pragma once

#include <cmath>
#include <span>

#include "aot/loops/math/double_word.h"

namespace ingot::loops::math {

// Those of scalar_ops.def.
#define INGOT_SCALARS_1 const Scalar& x
#define INGOT_SCALARS_2 const Scalar &x, const Scalar &y
#define MATH_OP(enumerator, name, arity, meaning) Scalar name(INGOT_SCALARS_##arity);
#include "aot/loops/scalar_ops.def"
#undef INGOT_SCALARS_1
#undef INGOT_SCALARS_2

// exp.cc
Scalar exp_sum(const Scalar& x, const Scalar& tail);  // e^(x + tail) for a tail below a unit in the last place of x
Scalar expm1_in_range(const Scalar& x);               // e^x - 1 for |x| at most 60
Scalar power_of_fraction(const Scalar& x);            // 2^x for |x| at most 1/2; f32

// mantissa 2^exponent, with a mantissa close to 1.
struct ScaledPower {
  DoubleWord mantissa;
  Scalar exponent;  // an integer as wide as the mantissa
};
ScaledPower exp_parts(const Scalar& x, const Scalar* tail = nullptr);  // e^(x + tail)
ScaledPower exp_parts_in_range(const Scalar& x, const Scalar& tail);   // the same, where x needs no bounds
// x 2^n for 2^n from below the least denormal to four times the greatest power.
Scalar scale(const Scalar& x, const Scalar& n);
// x 2^n for n from 0 down to a little below the exponent of the least denormal.
Scalar scale_down(const Scalar& x, const Scalar& n);

// log.cc
Scalar log1p_sum(const Scalar& x, const Scalar& tail);  // ln(1 + x + tail) for a tail below a unit in the last place

// trig.cc: sin, cos and tan are right where the angle is not large; these where it is
Scalar is_large_angle(const Scalar& x);
Scalar sin_of_large(const Scalar& x);
Scalar cos_of_large(const Scalar& x);
Scalar tan_of_large(const Scalar& x);

struct HalfTurns {
  Scalar sine, cosine;
};
HalfTurns sine_and_cosine_of_half_turns(const Scalar& x);  // of pi x, for |x| <= 1/4; f64

// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
Scalar polynomial(const Scalar& x, std::span<const double> coefficients);

// A function of f64, also for values of f32: right to half a unit in the last place, at half the lanes.
template <auto f>
Scalar through_f64(const Scalar& x) {
  if (x.dtype() == DType::kF64) return f(x);
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
