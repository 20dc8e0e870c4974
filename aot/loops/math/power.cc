// x^y = e^(y ln x). In f64, ln x to 2^-65 of itself: in two parts, of which the first is the rounded value. In f32,
// 2^(y log2 x) with log2 x and the product in f64.
#include "aot/loops/math/functions.h"

namespace ingot::loops::math {
namespace {

constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
// 2/3 in two parts, and the rest of 2 atanh(s)/s = 2 + 2/3 z + z^2 Q(z), z = s^2: relative error 2^-73.
constexpr double kTwoThirds = 0x1.5555555555555p-1, kTwoThirdsLow = 0x1.5555555555555p-55;
constexpr double kQ[] = {0x1.9999999999996p-2, 0x1.2492492493049p-2, 0x1.c71c71c57e03p-3,  0x1.745d1833790d6p-3,
                         0x1.3b13626788a2dp-3, 0x1.1120c170e7596p-3, 0x1.de3190b7c92a7p-4, 0x1.eb20c2e759114p-4};

// ln(a) for finite a > 0; f64.
DoubleWord log_of_positive(const Scalar& a) {
  const Scalar is_denormal = a < 0x1p-1022;
  const Scalar bits = where(is_denormal, a * 0x1p54, a).bitcast(DType::kI64);
  const Scalar sqrt_half = a.like(M_SQRT1_2).bitcast(DType::kI64);
  const Scalar lifted = bits + (a.like(1).bitcast(DType::kI64) - sqrt_half);
  const Scalar k = to_float((lifted >> 52) - 1023, DType::kF64) - where(is_denormal, a.like(54), 0);
  const Scalar f = ((lifted & lifted.bits((uint64_t{1} << 52) - 1)) + sqrt_half).bitcast(DType::kF64) - 1;

  const Scalar divisor = f + 2;
  const Scalar divisor_low = f - (divisor - 2);
  const Scalar s = f / divisor;
  const Scalar s_low = (fma(-s, divisor, f) - s * divisor_low) / divisor;
  const DoubleWord z = product(s, s);
  const Scalar z_low = z.low + 2 * s * s_low;
  const DoubleWord third = product(z.high, s.like(kTwoThirds));
  const Scalar third_low =
      third.low + fma(z_low, kTwoThirds, z.high * kTwoThirdsLow) + z.high * z.high * polynomial(z.high, kQ);
  const DoubleWord cubic = product(s, third.high);
  const Scalar cubic_low = cubic.low + fma(s, third_low, s_low * third.high);
  const DoubleWord log_m = fast_sum(s + s, cubic.high);
  const DoubleWord log = fast_sum(k * kLn2High, log_m.high);
  return fast_sum(log.high, log.low + (fma(k, kLn2Low, log_m.low) + (cubic_low + 2 * s_low)));
}

// log2 m = s L(s^2) with s = (m - 1) / (m + 1), for sqrt(1/2) <= m < sqrt(2); 2^r = 1 + r E(r) for |r| <= 1/2. Relative
// errors 2^-45.1 and 2^-26.7.
constexpr double kL[] = {0x1.71547652b8253p+1, 0x1.ec709dc539e76p-1, 0x1.2776c295f01cfp-1,
                         0x1.a61a2cc1ced3bp-2, 0x1.4795a63079ddfp-2, 0x1.21ac9c9040d9ep-2};
constexpr double kE[] = {0x1.62e43p-1, 0x1.ebfbep-3, 0x1.c6af6cp-5, 0x1.3b2a54p-7, 0x1.5f089p-10, 0x1.44138ap-13};

// a^y for finite a > 0 and y; f32.
Scalar power_of_positive(const Scalar& a, const Scalar& y) {
  constexpr double kLift = 0x1p24;
  const Scalar is_denormal = a < 0x1p-126;
  const Scalar bits = where(is_denormal, a * kLift, a).bitcast(DType::kI32);
  const Scalar sqrt_half = a.like(0x1.6a09e6p-1).bitcast(DType::kI32);
  const Scalar lifted = bits + (a.like(1).bitcast(DType::kI32) - sqrt_half);
  const Scalar k = (lifted >> 23) - where(is_denormal, bits.like(127 + 24), 127);
  const Scalar f = ((lifted & lifted.bits(0x7FFFFF)) + sqrt_half).bitcast(DType::kF32) - 1;

  const Scalar wide = f.convert(DType::kF64);
  const Scalar s = wide / (wide + 2);
  const Scalar log2 = fma(s, polynomial(s * s, kL), k.convert(DType::kF64));
  const Scalar exponent = y.convert(DType::kF64) * log2;
  const Scalar above = where(exponent < -160, -160, exponent);  // NaN stays
  const Scalar bounded = where(above > 160, 160, above);
  const double shift = layout_of(DType::kF64).shift, shift32 = layout_of(DType::kF32).shift;
  const Scalar n = (bounded + shift) - shift;
  const Scalar r = (bounded - n).convert(DType::kF32);
  const Scalar shifted = n.convert(DType::kF32) + shift32;
  const Scalar whole = shifted.bitcast(DType::kI32) - a.like(shift32).bitcast(DType::kI32);
  return scale(fma(r, polynomial(r, kE), 1), whole);
}

// a^y for finite a > 0, or infinity or 0; f64.
Scalar power_of_positive_f64(const Scalar& a, const Scalar& y) {
  const DoubleWord log = log_of_positive(a);
  const DoubleWord exponent = product(y, log.high);
  const Scalar is_moderate = abs(exponent.high) < 1000;  // else the low part may be NaN
  return exp_sum(exponent.high, where(is_moderate, fma(y, log.low, exponent.low), 0));
}

}  // namespace

Scalar power(const Scalar& x, const Scalar& y) {
  const Scalar a = abs(x);
  const Scalar finite = x.dtype() == DType::kF64 ? power_of_positive_f64(a, y) : power_of_positive(a, y);

  const Scalar zero = x.like(0), infinity = x.like(INFINITY);
  const Scalar is_zero = equal(a, 0);
  const Scalar is_extreme = is_zero | equal(a, INFINITY);
  const Scalar grows = where(is_zero, y < 0, y > 0);
  const Scalar of_extreme = where(grows, infinity, zero);
  const Scalar magnitude = where(is_nan(y), y, where(equal(a, 1), 1, where(is_extreme, of_extreme, finite)));

  const Scalar is_integer = equal(floor(y), y) & (abs(y) < INFINITY);
  const Scalar half = y * 0.5;
  const Scalar is_odd = is_integer & !equal(floor(half), half);
  const Scalar is_root_of_negative = (x < 0) & (a < INFINITY) & !is_integer & (abs(y) < INFINITY);
  const Scalar with_sign = where(is_odd, with_sign_of(magnitude, x), magnitude);
  const Scalar is_one = equal(x, 1) | equal(y, 0);
  return where(is_one, 1, where(is_root_of_negative, NAN, where(is_nan(x), x, with_sign)));
}

}  // namespace ingot::loops::math
