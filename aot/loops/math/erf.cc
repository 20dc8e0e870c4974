// The error function, what it is above -1, its complement and its inverse.
#include "aot/loops/math/functions.h"

namespace ingot::loops::math {
namespace {

// erf(x) = x + x P(x^2) for |x| below the switch. Relative error 2^-25.9 and 2^-62.4.
constexpr double kSwitch32 = 0.921875, kSwitch64 = 0.84375;
constexpr double kErf32[] = {0x1.06eba6p-3,  -0x1.8126e6p-2, 0x1.ce1a6ap-4,
                             -0x1.b68b54p-6, 0x1.473ba8p-8,  -0x1.3a17dcp-11};
constexpr double kErf64[] = {0x1.06eba8214db69p-3,   -0x1.812746b0379e5p-2,  0x1.ce2f21a042a91p-4,
                             -0x1.b82ce31280487p-6,  0x1.565bcd0cab48fp-8,   -0x1.c02db392a9844p-11,
                             0x1.f9a315e74f98ep-14,  -0x1.f4d09ac01d96fp-17, 0x1.b9c7d26b22248p-20,
                             -0x1.5e09112fc1e47p-23, 0x1.e76916e3ac058p-27,  -0x1.e544fcd941febp-31};

// f32: erf(x) = 1 - e^-G(x) from the switch to 4, where erf is 1. Error of the result 2^-34.4 of itself.
constexpr double kG[] = {-0x1.6f6378p-13, 0x1.21280cp+0, 0x1.444568p-1,  0x1.bb8984p-4,
                         -0x1.9b9d06p-6,  0x1.1170dcp-8, -0x1.c7d9fp-12, 0x1.624f4p-16};

// f32: 1 + erf(-x) = 2^(x L(x)) from 0 to 4. Error of the result 2^-28.0, and 2^-25.5 of itself.
constexpr double kLogarithm[] = {-0x1.a0be88p+0, -0x1.d63e26p-1, -0x1.2fbc0ep-3,  0x1.c63cd4p-6, 0x1.63c6acp-14,
                                 -0x1.2a299ep-9, 0x1.bcb8f2p-11, -0x1.40caeap-13, 0x1.8565c6p-17};

// erfc(x) = e^(-x^2) E(t) / (1 + 2 x) with t = (x - 4) / (x + 4), from 0.47 to where it vanishes (Shepherd and
// Laframboise 1981). Relative error 2^-25.1 and 2^-63.9.
constexpr double kVanishes32 = 10.25, kVanishes64 = 27.3;
constexpr double kE32[] = {0x1.3ba592p+0, -0x1.1df1aep-3, 0x1.f7db8ep-7, 0x1.16eb86p-4,  -0x1.9dabfep-4,
                           0x1.801e86p-4, -0x1.106dd4p-4, 0x1.2dc1b6p-5, -0x1.096494p-6, 0x1.6f9a54p-8};
constexpr double kE64[] = {
    0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a28ep-3,  0x1.f7f5df66fd7abp-7,   0x1.16ecefcfa5396p-4,
    -0x1.9ddb23c3e904ap-4,  0x1.7fee004e1253cp-4,   -0x1.0fb06dfe4a257p-4,  0x1.3079edf682a32p-5,
    -0x1.09623884e7f6ep-6,  0x1.49c672863acc9p-8,   -0x1.8d4a9a08d50f7p-11, -0x1.a1df257eb98fcp-13,
    0x1.3be03eba3e113p-13,  -0x1.9959438c6e26bp-16, -0x1.7884a2ce956cap-17, 0x1.7f28e5f4c6c7ep-18,
    0x1.397159065e079p-22,  -0x1.bb1bd8d239a6dp-21, 0x1.4af0ef44f38fbp-24,  0x1.d9ef6962f631ap-24,
    -0x1.51dfdc7c6d423p-26, -0x1.f4470907e4e44p-27, 0x1.480a2aa1b0667p-29,  0x1.96880adcebb17p-30};

// erf_inv(x) = x N(x^2) for |x| <= 1/2; beyond (Giles 2010) x I(w) with w = -ln(1 - x^2), in three pieces, in w - 3.25,
// sqrt(w) - 3.25 and sqrt(w) - 5, whose first coefficient has a low part. Relative errors below 2^-54.
constexpr double kNear64[] = {0x1.c5bf891b4ef6bp-1, 0x1.db29fb2fee5d7p-3,  0x1.053c2c0aba07cp-3, 0x1.62847c4705debp-4,
                              0x1.0a1318d0130dcp-4, 0x1.a7c84db275d4ap-5,  0x1.5eec804dd7c46p-5, 0x1.2aa3f3e188ee7p-5,
                              0x1.049c5b96cfb4p-5,  0x1.b9dcba921c856p-6,  0x1.fa6e99af1c795p-6, -0x1.7eea0f1d96346p-10,
                              0x1.6549e2528d134p-4, -0x1.8af293987967fp-4, 0x1.ebabd1a6a2469p-4};
constexpr double kCentral[] = {
    0x1.aeff02cbbb1f6p+0,   0x1.e8afc29b9bb59p-3,   -0x1.9c7f37c1356fp-8,   -0x1.548db55d35b1dp-11,
    0x1.74cd69f418381p-13,  -0x1.efa1a932c844dp-17, -0x1.0ea77433c65bep-20, 0x1.a544b62fc1be7p-22,
    -0x1.1b44fa35d24c4p-25, -0x1.87bd6eb4408fcp-29, 0x1.09364a27b8f88p-30,  -0x1.35f41e91bea59p-34,
    -0x1.376708220aa12p-37, 0x1.561890a95c1e5p-39,  -0x1.442651ce7d8d7p-43, -0x1.eaea82e4ae2d2p-46,
    0x1.c0a268e46259ep-48,  -0x1.37dccf686a08bp-52, -0x1.a09d6dc03c87dp-54, 0x1.24084ba16441ap-56,
    0x1.07b587f2d1a86p-62,  -0x1.44b9f1bf281bap-62, 0x1.413805104b8ecp-67,  0x1.2c5a696156b4fp-69};
constexpr double kMiddle[] = {0x1.8abcc380d5a48p+1,   0x1.0158a6d641d55p+0,   0x1.5ffcfe5b6cd38p-8,
                              -0x1.ebadabba02be5p-9,  0x1.468eeca944c44p-9,   -0x1.ba9240d8768c3p-10,
                              0x1.f3cc545d9ca81p-11,  -0x1.7448bcc8e9aa7p-12, 0x1.932e8fd4360edp-16,
                              0x1.1e6abbe66ca02p-14,  -0x1.8cf463501e9ap-15,  0x1.a241c6f237f34p-17,
                              0x1.899aa0e374402p-19,  -0x1.0b79e820e8497p-18, 0x1.8db69feb41fb6p-20,
                              -0x1.da75906425fdap-26, -0x1.079a074d6994p-22,  0x1.1a9484c4d3628p-23,
                              -0x1.674f1725daa65p-26, -0x1.06f1da245bfd3p-26, 0x1.07e3c2020286fp-27};
constexpr double kTail[] = {
    0x1.3664ddd1ad7fbp+2,  0x1.02a30d1fba10dp+0,   -0x1.22ea5df1c5059p-13, -0x1.c2f36aa248aeap-13,
    0x1.3ebf4ef9a4d2ep-14, -0x1.4a348fc2c46d2p-16, 0x1.2fbcfe7a995a5p-18,  -0x1.0a9073bca0b22p-20,
    0x1.ebe27ddf44c79p-23, -0x1.2227296c17024p-24, 0x1.f2980d5ee3284p-26,  -0x1.0612a3c946ff2p-26,
    0x1.0c8ba21edd728p-27, -0x1.dd21cff5a1426p-29, 0x1.6b50dffc6876cp-30,  -0x1.e10f234323a88p-32,
    0x1.244ceff7a33dp-34,  0x1.7934134aef5eap-35,  -0x1.5a60cd00c0f5p-36};
constexpr double kCentralLow = 0x1.a48d13e20572dp-54, kMiddleLow = -0x1.92060f062813p-54,
                 kTailLow = -0x1.87570af7cf27dp-54;

// The same for f32, in two outer pieces, in w - 2.75 and sqrt(w) - 3. Relative errors below 2^-25.6.
constexpr double kNear32[] = {0x1.c5bf8ap-1, 0x1.db29dap-3, 0x1.054454p-3, 0x1.610602p-4,
                              0x1.1a79a8p-4, 0x1.e98cfap-6, 0x1.8f24aep-4};
constexpr double kCentral32[] = {0x1.9012fcp+0,   0x1.f4636cp-3,   -0x1.4a0b54p-8, -0x1.10423ap-10, 0x1.b6b9dcp-13,
                                 -0x1.3e151ep-17, -0x1.617cdap-19, 0x1.015e28p-21, 0x1.5f7888p-28,  -0x1.04d408p-27};
constexpr double kOuter32[] = {0x1.6a9efcp+1, 0x1.006dc4p+0,  0x1.3581d6p-7,   -0x1.f46be4p-8,  0x1.749c8cp-8,
                               -0x1.d826dp-9, 0x1.8692eap-10, -0x1.b9e2a8p-15, -0x1.49eae2p-12, 0x1.e8efb8p-14};
constexpr double kCentral32Low = -0x1.db2892p-25, kOuter32Low = -0x1.429886p-26;

// constant + x * slope in two parts, for a sum between half and twice the constant: of a polynomial's last step, from
// which most of its error comes.
DoubleWord last_step(const Scalar& constant, const Scalar& x, const Scalar& slope) {
  const Scalar high = fma(x, slope, constant);
  return {high, fma(x, slope, constant - high)};
}

// For x >= 0.47: e^(-x^2), whose exponent needs more than one word,
// times E(t) / (1 + 2 x) with the remainder of the division.
Scalar erfc_of_large(const Scalar& x) {
  const bool is_f64 = x.dtype() == DType::kF64;
  const Scalar vanishes = x > (is_f64 ? kVanishes64 : kVanishes32);
  const std::span<const double> e = is_f64 ? std::span<const double>(kE64) : kE32;
  const Scalar bounded = where(vanishes, 1, x);
  const Scalar t = (bounded - 4) / (bounded + 4);
  const DoubleWord series = last_step(t.like(e[0]), t, polynomial(t, e.subspan(1)));
  const DoubleWord divisor = fast_sum(bounded + bounded, x.like(1));
  const Scalar reciprocal = 1 / divisor.high;
  const Scalar quotient = series.high * reciprocal;
  const Scalar remainder = fma(-quotient, divisor.low, fma(-quotient, divisor.high, series.high) + series.low);

  const DoubleWord square = product(bounded, bounded);
  const ScaledPower power = exp_parts_in_range(-square.high, -square.low);
  const Scalar low = fma(power.mantissa.low, quotient, power.mantissa.high * (remainder * reciprocal));
  return where(vanishes, 0, scale_down(fma(power.mantissa.high, quotient, low), power.exponent));
}

Scalar erf_near_zero(const Scalar& x) {
  const bool is_f64 = x.dtype() == DType::kF64;
  return fma(x, polynomial(x * x, is_f64 ? std::span<const double>(kErf64) : kErf32), x);
}

Scalar erf_f64(const Scalar& x) {
  const Scalar a = abs(x);
  const Scalar of_large = 1 - erfc_of_large(where(a < kSwitch64, kSwitch64, a));
  return where(a < kSwitch64, erf_near_zero(x), copy_sign(of_large, x));
}

Scalar erf_f32(const Scalar& x) {
  const Scalar a = abs(x);
  const Scalar g = polynomial(where(a > 4, 4, a), kG);
  return where(a < kSwitch32, erf_near_zero(x), copy_sign(expm1_in_range(-g), x));
}

// 2^(a L(a)) is the part that is missing from 2, or all there is.
Scalar erf_plus_one_f32(const Scalar& x) {
  const Scalar a = abs(x);
  const Scalar exponent = a * polynomial(a, kLogarithm);
  const double shift = layout_of(x.dtype()).shift;
  const Scalar shifted = exponent + shift;
  const Scalar fraction = exponent - (shifted - shift);
  const DType integer = signed_of(x.dtype());
  const Scalar whole = power_of_two(shifted.bitcast(integer) - x.like(shift).bitcast(integer), x.dtype());
  const Scalar part = where(a > 4, 0, power_of_fraction(fraction) * whole);
  return where(x < 0, part, 2 - part);
}

Scalar slope(const Scalar& u, std::span<const double> c) { return polynomial(u, c.subspan(1)); }

// x I, from what I is beyond |x| = 1/2 and from N.
Scalar erf_inv_of(const Scalar& x, const DoubleWord& outer, std::span<const double> near) {
  const Scalar a = abs(x);
  const Scalar beyond = fma(x, outer.high, x * outer.low);
  const Scalar finite = where(a < 0.5, x * polynomial(x * x, near), beyond);
  return where(equal(a, 1), copy_sign(x.like(INFINITY), x), finite);
}

Scalar minus_log_of_rest(const Scalar& x) { return -log((1 - abs(x)) * (1 + abs(x))); }

Scalar erf_inv_f64(const Scalar& x) {
  const Scalar w = minus_log_of_rest(x);
  const Scalar root = sqrt(w);
  const Scalar is_central = w < 6.25, is_middle = w < 16;
  const auto pick = [&](const Scalar& central, const Scalar& middle, const Scalar& tail) {
    return where(is_central, central, where(is_middle, middle, tail));
  };
  const auto constant = [&](double central, double middle, double tail) {
    return pick(x.like(central), x.like(middle), x.like(tail));
  };
  const Scalar central = w - 3.25, middle = root - 3.25, tail = root - 5;
  const DoubleWord factor = last_step(constant(kCentral[0], kMiddle[0], kTail[0]), pick(central, middle, tail),
                                      pick(slope(central, kCentral), slope(middle, kMiddle), slope(tail, kTail)));
  return erf_inv_of(x, {factor.high, factor.low + constant(kCentralLow, kMiddleLow, kTailLow)}, kNear64);
}

Scalar erf_inv_f32(const Scalar& x) {
  const Scalar w = minus_log_of_rest(x);
  const Scalar is_central = w < 5;
  const Scalar central = w - 2.75, outer = sqrt(w) - 3;
  const DoubleWord factor =
      last_step(where(is_central, x.like(kCentral32[0]), kOuter32[0]), where(is_central, central, outer),
                where(is_central, slope(central, kCentral32), slope(outer, kOuter32)));
  const Scalar low = factor.low + where(is_central, x.like(kCentral32Low), kOuter32Low);
  return erf_inv_of(x, {factor.high, low}, kNear32);
}

}  // namespace

Scalar erf(const Scalar& x) { return x.dtype() == DType::kF64 ? erf_f64(x) : erf_f32(x); }

Scalar erf_plus_one(const Scalar& x) { return x.dtype() == DType::kF64 ? erf_f64(x) + 1 : erf_plus_one_f32(x); }

Scalar erfc(const Scalar& x) {
  const Scalar a = abs(x);
  const Scalar of_large = erfc_of_large(where(a < 0.5, 0.5, a));
  const Scalar mirrored = where(x < 0, 2 - of_large, of_large);
  return where(a < 0.5, 1 - erf_near_zero(x), mirrored);
}

Scalar erf_inv(const Scalar& x) { return x.dtype() == DType::kF64 ? erf_inv_f64(x) : erf_inv_f32(x); }

}  // namespace ingot::loops::math
