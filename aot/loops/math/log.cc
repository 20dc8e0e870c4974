// ln x. x = 2^k m with sqrt(1/2) <= m < sqrt(2); with f = m - 1 and s = f / (2 + f),
// ln m = 2 atanh(s) = f - (f^2/2 - s (f^2/2 + R)), R = s^2 P(s^2) with P minimax: the scheme of fdlibm's e_log.c.
#include <bit>

#include "aot/loops/math/functions.h"

namespace ingot::loops::math {
namespace {

struct LogTable {
  double ln2_high, ln2_low;  // k * ln2_high is exact
  double least_normal;
  uint64_t sqrt_half_bits;
  std::span<const double> p;
};

// Error of 2 atanh(s) - 2 s relative to s: 2^-37.6 and 2^-59.5.
constexpr double kLog32[] = {0x1.555554p-1, 0x1.999a7cp-2, 0x1.2438a8p-2, 0x1.e2fdd8p-3};
constexpr double kLog64[] = {0x1.5555555555593p-1, 0x1.999999997fb2ep-2, 0x1.2492494217d55p-2, 0x1.c71c51e7cf9bfp-3,
                             0x1.7466463422f19p-3, 0x1.39a0f44c7294fp-3, 0x1.2f0d95452d0f9p-3};

const LogTable& log_table(DType dtype) {
  static constexpr LogTable kF32{0x1.62e3p-1, 0x1.2fefa2p-17, 0x1p-126, std::bit_cast<uint32_t>(0x1.6a09e6p-1f),
                                 kLog32};
  static constexpr LogTable kF64{0x1.62e42feep-1, 0x1.a39ef35793c76p-33, 0x1p-1022,
                                 std::bit_cast<uint64_t>(0x1.6a09e667f3bcdp-1), kLog64};
  return dtype == DType::kF64 ? kF64 : kF32;
}

// ln(x) + correction for finite x > 0.
Scalar log_of_positive(const Scalar& x, const Scalar& correction) {
  const LogTable& table = log_table(x.dtype());
  const Layout& layout = layout_of(x.dtype());
  const DType integer = signed_of(x.dtype());
  const double lift = std::ldexp(1, layout.mantissa_bits + 2);
  const Scalar is_denormal = x < table.least_normal;
  const Scalar normal = where(is_denormal, x * lift, x);

  // Adding the distance from sqrt(1/2) to 1 carries into the exponent exactly where m would be at least sqrt(2).
  const Scalar bits = normal.bitcast(integer);
  const Scalar sqrt_half = bits.bits(table.sqrt_half_bits);
  const Scalar one = x.like(1).bitcast(integer);
  const Scalar lifted = bits + (one - sqrt_half);
  const Scalar k = to_float((lifted >> layout.mantissa_bits) - layout.bias, x.dtype()) -
                   where(is_denormal, x.like(layout.mantissa_bits + 2), 0);
  const Scalar mantissa = lifted & lifted.bits((uint64_t{1} << layout.mantissa_bits) - 1);
  const Scalar f = (mantissa + sqrt_half).bitcast(x.dtype()) - 1;

  const Scalar s = f / (f + 2);
  const Scalar z = s * s;
  const Scalar r = z * polynomial(z, table.p);
  const Scalar half_square = f * f * 0.5;
  const Scalar low = fma(s, half_square + r, fma(k, table.ln2_low, correction));
  return fma(k, table.ln2_high, f - (half_square - low));
}

// Where ln x is not a matter of computing: NaN, negative, zero, infinite.
Scalar with_specials(const Scalar& log, const Scalar& x) {
  const Scalar of_large = where(x < INFINITY, log, x);
  const Scalar of_negative = where(x < 0, NAN, of_large);
  return where(equal(x, 0), -INFINITY, of_negative);
}

}  // namespace

Scalar log(const Scalar& x) { return with_specials(log_of_positive(x, x.like(0)), x); }

// ln(u) + e / u where u = 1 + x as rounded and e is what rounding lost.
Scalar log1p_sum(const Scalar& x, const Scalar& tail) {
  const DoubleWord u = sum(x, x.like(1));
  return with_specials(log_of_positive(u.high, (u.low + tail) / u.high), u.high);
}

Scalar log1p(const Scalar& x) {
  return where(abs(x) < std::ldexp(1, -layout_of(x.dtype()).mantissa_bits - 2), x, log1p_sum(x, x.like(0)));
}

}  // namespace ingot::loops::math
