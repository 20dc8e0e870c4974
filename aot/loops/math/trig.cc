// Sine, cosine and tangent: the angle within a quarter turn, then a minimax polynomial.
#include "aot/loops/math/functions.h"
#include "aot/loops/math/reduce_angle.h"

namespace ingot::loops::math {
namespace {

// sin r = r + r^3 S(r^2), cos r = 1 - r^2/2 + r^4 C(r^2) for |r| <= pi/4. Relative errors below 2^-28 (f32) and 2^-58
// (f64).
constexpr double kS32[] = {-0x1.555556p-3, 0x1.111108p-7, -0x1.a00f88p-13, 0x1.6cd35cp-19};
constexpr double kC32[] = {0x1.55554ap-5, -0x1.6c0c76p-10, 0x1.99fc26p-16};
constexpr double kS64[] = {-0x1.5555555555549p-3, 0x1.111111110f802p-7,   -0x1.a01a019c01d54p-13,
                           0x1.71de35697ae98p-19, -0x1.ae5e5aae268d7p-26, 0x1.5d8f8c0436c1fp-33};
constexpr double kC64[] = {0x1.555555555554bp-5,   -0x1.6c16c16c150fbp-10, 0x1.a01a019ca46c5p-16,
                           -0x1.27e4f7ffe9deap-22, 0x1.1ee9e4d6785fap-29,  -0x1.8faad2bf02dbap-37};

// Of |x|.
struct SineAndCosine {
  Scalar sine, cosine;  // of the reduced angle
  Scalar quadrant;      // an unsigned integer as wide as x
};

SineAndCosine f32_sine_and_cosine(const Scalar& magnitude) {
  const ReducedAngle reduced = reduce_angle(magnitude.convert(DType::kF64), DType::kF32);
  const Scalar r = reduced.angle.high.convert(DType::kF32);
  const Scalar z = r * r;
  return {fma(r * z, polynomial(z, kS32), r), fma(z * z, polynomial(z, kC32), 1 - z * 0.5),
          reduced.quadrant.convert(DType::kUI32)};
}

// The low part of the angle enters to first order, as in fdlibm's k_sin.c and k_cos.c.
SineAndCosine f64_sine_and_cosine(const Scalar& magnitude, DType source) {
  const auto [angle, quadrant] = reduce_angle(magnitude, source);
  const Scalar &r = angle.high, &low = angle.low;
  const Scalar z = r * r;
  const Scalar cube = z * r;
  const Scalar sine_rest = polynomial(z, std::span(kS64).subspan(1)) * z;
  const Scalar sine = r - ((z * 0.5 * low - cube * sine_rest - low) - cube * kS64[0]);
  const Scalar half = z * 0.5;
  const Scalar head = 1 - half;
  const Scalar cosine = head + (((1 - head) - half) + fma(z * z, polynomial(z, kC64), -(r * low)));
  return {sine, cosine, quadrant};
}

SineAndCosine sine_and_cosine(const Scalar& x) {
  return x.dtype() == DType::kF64 ? f64_sine_and_cosine(abs(x), DType::kF64) : f32_sine_and_cosine(abs(x));
}

// sin of (pi/2) quadrant + the reduced angle.
Scalar sine_in(const SineAndCosine& parts, const Scalar& quadrant) {
  const Scalar value = where(equal(quadrant & 1, 0), parts.sine, parts.cosine);
  return where(equal(quadrant & 2, 0), value, -value);
}

// Not a number for infinite x.
Scalar finite_or_nan(const Scalar& value, const Scalar& x) { return where(abs(x) < INFINITY, value, x - x); }

}  // namespace

Scalar sin(const Scalar& x) {
  const SineAndCosine parts = sine_and_cosine(x);
  const Scalar of_magnitude = sine_in(parts, parts.quadrant);
  const DType bits = signed_of(x.dtype());
  const Scalar sign = x.bitcast(bits) ^ abs(x).bitcast(bits);
  return finite_or_nan((of_magnitude.bitcast(bits) ^ sign).bitcast(x.dtype()), x);
}

Scalar cos(const Scalar& x) {
  const SineAndCosine parts = sine_and_cosine(x);
  return finite_or_nan(sine_in(parts, parts.quadrant + 1), x);
}

Scalar tan(const Scalar& x) {
  const Scalar wide = x.convert(DType::kF64);
  const SineAndCosine parts = f64_sine_and_cosine(abs(wide), x.dtype());
  const Scalar is_even = equal(parts.quadrant & 1, 0);
  const Scalar of_magnitude = where(is_even, parts.sine, -parts.cosine) / where(is_even, parts.cosine, parts.sine);
  const Scalar sign = wide.bitcast(DType::kI64) ^ abs(wide).bitcast(DType::kI64);
  const Scalar value = (of_magnitude.bitcast(DType::kI64) ^ sign).bitcast(DType::kF64);
  return finite_or_nan(value, wide).convert(x.dtype());
}

}  // namespace ingot::loops::math
