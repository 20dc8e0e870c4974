// Hyperbolic functions and their inverses.
#include "aot/loops/math/functions.h"

namespace ingot::loops::math {
namespace {

// sinh x = x + x^3 P(x^2) for |x| <= 1. Relative errors 2^-27.9 and 2^-56.8.
constexpr double kSinh32[] = {0x1.555556p-3, 0x1.11111ep-7, 0x1.a009p-13, 0x1.78a70ep-19};
constexpr double kSinh64[] = {0x1.5555555555555p-3,  0x1.1111111111111p-7,  0x1.a01a01a01a001p-13,
                              0x1.71de3a556f96cp-19, 0x1.ae6456792a77fp-26, 0x1.612467ccb226p-33,
                              0x1.ae777c36fd5b6p-41, 0x1.99f0806c2628dp-49};

// f32: tanh(x) = x + x^3 T(x^2) below the switch, where tanh is 1/2. Relative error 2^-24.7.
constexpr double kTanhSwitch = 0.549306;
constexpr double kTanh[] = {-0x1.555454p-2, 0x1.10cf4ap-3, -0x1.af858p-5, 0x1.0d7266p-6};
constexpr double kTanhMost32 = 9.1, kTanhMost64 = 19.1;  // above, tanh(x) is 1

// e^a / 2 in two parts, and e^-a / 2.
struct Halves {
  Scalar grown, grown_low, decayed;
};

// e^(a - ln 2). Up to 16, what rounding the exponent lost is left out, as in StableHLO's own expansion of sinh and
// cosh, whose published results differ by up to 4 units in the last place from the exact ones.
Halves halves(const Scalar& a) {
  constexpr double kLn2Low32 = -0x1.05c61p-29, kLn2Low64 = 0x1.abc9e3b39803fp-56;
  const Scalar bounded = where(a > 1000, 1000, a);
  const DoubleWord exponent = sum(bounded, a.like(-M_LN2));
  const Scalar lost = exponent.low - (a.dtype() == DType::kF64 ? kLn2Low64 : kLn2Low32);
  const Scalar tail = where(a < 16, 0, lost);
  const ScaledPower power = exp_parts(exponent.high, &tail);
  const Scalar grown = scale(power.mantissa.high, power.exponent), low = scale(power.mantissa.low, power.exponent);
  return {grown, low, 0.25 / (grown + low)};
}

// Where squares and the one beside them do not matter any more, and where a function is its argument.
double greatest_square(DType dtype) { return std::ldexp(1, layout_of(dtype).mantissa_bits + 2); }
double least_odd(DType dtype) { return std::ldexp(1, -layout_of(dtype).mantissa_bits / 2 - 2); }

// ln(1 + x), and ln(2 x) where x is large.
Scalar log_of_grown(const DoubleWord& x, const Scalar& is_large) {
  return log1p_sum(x.high, x.low) + where(is_large, x.high.like(M_LN2), 0);
}

// From the switch on 1 - 2 / (e^2|x| + 1), where errors of e^2|x| are halved at least.
Scalar tanh_f32(const Scalar& x) {
  constexpr double kTurns = 2 * M_LOG2E;  // e^2|x| = 2^(kTurns |x|)
  const Scalar square = x * x;
  const Scalar near_zero = fma(x * square, polynomial(square, kTanh), x);
  const Scalar a = abs(x), bounded = where(a > kTanhMost32, kTanhMost32, a);
  const double shift = layout_of(x.dtype()).shift;
  const Scalar shifted = fma(bounded, kTurns, shift);
  const Scalar fraction = fma(bounded, kTurns, shift - shifted);
  const DType integer = signed_of(x.dtype());
  const Scalar whole = power_of_two(shifted.bitcast(integer) - x.like(shift).bitcast(integer), x.dtype());
  const Scalar beyond = 1 - 2 / fma(power_of_fraction(fraction), whole, 1);
  return with_sign_of(where(a < kTanhSwitch, near_zero, beyond), x);
}

// With t = e^2|x| - 1: 1 - 2 / (t + 2) from 1/2 up, which rounds little; below, q = t / (t + 2) plus what rounding t +
// 2 and q lost, over t + 2 = 2 / (1 - q).
Scalar tanh_f64(const Scalar& x) {
  const Scalar a = abs(x), bounded = where(a > kTanhMost64, kTanhMost64, a);
  const Scalar t = expm1_in_range(bounded + bounded);
  const Scalar is_upper_half = t > 2;
  const Scalar divisor = t + 2;
  const Scalar q = where(is_upper_half, 2, t) / divisor;
  const Scalar divisor_low = t - (divisor - 2);
  const Scalar rest = fma(-q, divisor_low, fma(-q, divisor, t));
  return with_sign_of(where(is_upper_half, 1 - q, fma(rest, 0.5 - 0.5 * q, q)), x);
}

}  // namespace

Scalar sinh(const Scalar& x) {
  const bool is_f64 = x.dtype() == DType::kF64;
  const Scalar a = abs(x);
  const Scalar z = a * a;
  const Scalar near_zero = fma(a * z, is_f64 ? polynomial(z, kSinh64) : polynomial(z, kSinh32), a);
  const Halves half = halves(a);
  return copy_sign(where(a < 1, near_zero, half.grown + (half.grown_low - half.decayed)), x);
}

Scalar cosh(const Scalar& x) {
  const Halves half = halves(abs(x));
  return half.grown + (half.grown_low + half.decayed);
}

Scalar tanh(const Scalar& x) { return x.dtype() == DType::kF64 ? tanh_f64(x) : tanh_f32(x); }

// ln(a + sqrt(a^2 + 1)) = ln(1 + a + a^2 / (1 + sqrt(a^2 + 1))).
Scalar asinh(const Scalar& x) {
  const Scalar a = abs(x);
  const Scalar is_large = a > greatest_square(x.dtype());
  const Scalar bounded = where(is_large, 1, a);
  const Scalar square = bounded * bounded;
  const DoubleWord grown = fast_sum(bounded, square / (sqrt(square + 1) + 1));
  const Scalar log = log_of_grown({where(is_large, a, grown.high), where(is_large, 0, grown.low)}, is_large);
  return where(a < least_odd(x.dtype()), x, copy_sign(log, x));
}

// ln(x + sqrt(x^2 - 1)) = ln(1 + t + sqrt(t^2 + 2 t)) with t = x - 1.
Scalar acosh(const Scalar& x) {
  const Scalar is_large = x > greatest_square(x.dtype());
  const DoubleWord t = fast_sum(where(is_large, 1, x), x.like(-1));
  const DoubleWord grown = fast_sum(sqrt(fma(t.high, t.high, t.high + t.high)), t.high);
  const Scalar log = log_of_grown({where(is_large, x, grown.high), where(is_large, 0, grown.low + t.low)}, is_large);
  return where(x < 1, NAN, log);
}

// ln((1 + a) / (1 - a)) / 2 = ln(1 + 2 a / (1 - a)) / 2.
Scalar atanh(const Scalar& x) {
  const Scalar a = abs(x);
  const DoubleWord divisor = fast_sum(x.like(1), -a);  // exact up to 1; beyond, the result is NaN
  const Scalar dividend = a + a;
  const Scalar quotient = dividend / divisor.high;
  const Scalar remainder = fma(-quotient, divisor.low, fma(-quotient, divisor.high, dividend));
  const Scalar log = log1p_sum(quotient, remainder / divisor.high) * 0.5;
  return where(a < least_odd(x.dtype()), x, copy_sign(log, x));
}

}  // namespace ingot::loops::math
