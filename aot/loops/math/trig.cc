// Sine, cosine and tangent: the angle within a quarter turn, then a minimax polynomial.
#include "aot/loops/math/functions.h"
#include "aot/loops/math/reduce_angle.h"

namespace ingot::loops::math {
namespace {

// sin r = r + r^3 S(r^2), cos r = 1 - r^2/2 + r^4 C(r^2) for |r| <= pi/4.
// Relative errors below 2^-28 (f32) and 2^-58 (f64).
constexpr double kS32[] = {-0x1.555556p-3, 0x1.111108p-7, -0x1.a00f88p-13, 0x1.6cd35cp-19};
constexpr double kC32[] = {0x1.55554ap-5, -0x1.6c0c76p-10, 0x1.99fc26p-16};
constexpr double kS64[] = {-0x1.5555555555549p-3, 0x1.111111110f802p-7,   -0x1.a01a019c01d54p-13,
                           0x1.71de35697ae98p-19, -0x1.ae5e5aae268d7p-26, 0x1.5d8f8c0436c1fp-33};
constexpr double kC64[] = {0x1.555555555554bp-5,   -0x1.6c16c16c150fbp-10, 0x1.a01a019ca46c5p-16,
                           -0x1.27e4f7ffe9deap-22, 0x1.1ee9e4d6785fap-29,  -0x1.8faad2bf02dbap-37};

// pi/2 in three parts, summed.
constexpr double kHalfPi32[] = {0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50};
// Up to here, Cody and Waite's reduction in x's own width will do.
constexpr double kModerate32 = 0x1p16, kModerate64 = 0x1p31;

struct SineAndCosine {
  Scalar sine, cosine;  // of the reduced angle
  Scalar quadrant;      // an unsigned integer as wide as they are
};

SineAndCosine f32_parts(const Scalar& r, const Scalar& quadrant) {
  const Scalar z = r * r;
  return {fma(r * z, polynomial(z, kS32), r), fma(z * z, polynomial(z, kC32), 1 - z * 0.5), quadrant};
}

struct TwoWordParts {
  DoubleWord sine, cosine;
  Scalar quadrant;
};

// The low part of the angle enters to first order, as in fdlibm's k_sin.c and k_cos.c.
TwoWordParts two_word_parts(const ReducedAngle& reduced) {
  const Scalar &r = reduced.angle.high, &low = reduced.angle.low;
  const Scalar z = r * r;
  const Scalar cube = z * r;
  const Scalar sine_rest = polynomial(z, std::span(kS64).subspan(1)) * z;
  const DoubleWord sine = fast_sum(r, -((z * 0.5 * low - cube * sine_rest - low) - cube * kS64[0]));
  const Scalar half = z * 0.5;
  const Scalar head = 1 - half;
  const DoubleWord cosine = fast_sum(head, ((1 - head) - half) + fma(z * z, polynomial(z, kC64), -(r * low)));
  return {sine, cosine, reduced.quadrant};
}

SineAndCosine f64_parts(const ReducedAngle& reduced) {
  const TwoWordParts parts = two_word_parts(reduced);
  return {parts.sine.high, parts.cosine.high, parts.quadrant};
}

// Of a moderate magnitude. In f32, x - n pi/2 with two roundings, the first product being exact.
SineAndCosine of_moderate(const Scalar& magnitude) {
  if (magnitude.dtype() == DType::kF64) return f64_parts(reduce_moderate(magnitude));
  const double shift = layout_of(DType::kF32).shift;
  const Scalar shifted = fma(magnitude, M_2_PI, shift);
  const Scalar n = shifted - shift;
  const Scalar r = fma(-n, kHalfPi32[2], fma(-n, kHalfPi32[1], fma(-n, kHalfPi32[0], magnitude)));
  return f32_parts(r, shifted.bitcast(DType::kUI32));
}

SineAndCosine of_large(const Scalar& magnitude) {
  if (magnitude.dtype() == DType::kF64) return f64_parts(reduce_large(magnitude, DType::kF64));
  const ReducedAngle reduced = reduce_large(magnitude.convert(DType::kF64), DType::kF32);
  return f32_parts(reduced.angle.high.convert(DType::kF32), reduced.quadrant.convert(DType::kUI32));
}

// sin of (pi/2) quadrant + the reduced angle: the quadrant's second bit is the sign.
Scalar sine_in(const SineAndCosine& parts, const Scalar& quadrant) {
  const Scalar value = where(equal(quadrant & 1, 0), parts.sine, parts.cosine);
  const DType bits = quadrant.dtype();
  const Scalar sign = (quadrant << (info(bits).bits - 2)) & quadrant.bits(uint64_t{1} << (info(bits).bits - 1));
  return (value.bitcast(bits) ^ sign).bitcast(value.dtype());
}

// Not a number for infinite x.
Scalar finite_or_nan(const Scalar& value, const Scalar& x) { return where(abs(x) < INFINITY, value, x - x); }

// An odd function's value at x from its value at the magnitude.
Scalar odd(const Scalar& value, const Scalar& x) {
  const DType bits = signed_of(x.dtype());
  const Scalar sign = x.bitcast(bits) ^ abs(x).bitcast(bits);
  return (value.bitcast(bits) ^ sign).bitcast(x.dtype());
}

// Of an angle at least 0: a quotient with its remainder.
Scalar tangent(const ReducedAngle& reduced) {
  const auto [sine, cosine, quadrant] = two_word_parts(reduced);
  const Scalar is_even = equal(quadrant & 1, 0);
  const Scalar dividend = where(is_even, sine.high, -cosine.high), dividend_low = where(is_even, sine.low, -cosine.low);
  const Scalar divisor = where(is_even, cosine.high, sine.high), divisor_low = where(is_even, cosine.low, sine.low);
  const Scalar reciprocal = 1 / divisor;
  const Scalar quotient = dividend * reciprocal;
  const Scalar remainder = fma(-quotient, divisor_low, fma(-quotient, divisor, dividend) + dividend_low);
  return fma(remainder, reciprocal, quotient);
}

}  // namespace

Scalar is_large_angle(const Scalar& x) { return abs(x) > (x.dtype() == DType::kF64 ? kModerate64 : kModerate32); }

Scalar sin(const Scalar& x) {
  const SineAndCosine parts = of_moderate(abs(x));
  return odd(sine_in(parts, parts.quadrant), x);
}

Scalar sin_of_large(const Scalar& x) {
  const SineAndCosine parts = of_large(abs(x));
  return finite_or_nan(odd(sine_in(parts, parts.quadrant), x), x);
}

Scalar cos(const Scalar& x) {
  const SineAndCosine parts = of_moderate(abs(x));
  return sine_in(parts, parts.quadrant + 1);
}

Scalar cos_of_large(const Scalar& x) {
  const SineAndCosine parts = of_large(abs(x));
  return finite_or_nan(sine_in(parts, parts.quadrant + 1), x);
}

Scalar tan(const Scalar& x) {
  const Scalar wide = x.convert(DType::kF64);
  return odd(tangent(reduce_moderate(abs(wide))), wide).convert(x.dtype());
}

Scalar tan_of_large(const Scalar& x) {
  const Scalar wide = x.convert(DType::kF64);
  return finite_or_nan(odd(tangent(reduce_large(abs(wide), x.dtype())), wide), wide).convert(x.dtype());
}

HalfTurns sine_and_cosine_of_half_turns(const Scalar& x) {
  const SineAndCosine parts = f64_parts({half_turns(x), x.bitcast(DType::kUI64)});
  return {parts.sine, parts.cosine};
}

}  // namespace ingot::loops::math
