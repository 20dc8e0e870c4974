// The error function, its complement and its inverse.
#include "aot/loops/math/double_word.h"
#include "aot/loops/math/functions.h"

namespace ingot::loops::math {
namespace {

// erf(x) = x + x P(x^2) for |x| below the switch. Relative error 2^-25.9 and 2^-62.4.
constexpr double kSwitch32 = 0.921875, kSwitch64 = 0.84375;
constexpr double kP32[] = {0x1.06eba6p-3,  -0x1.8126e6p-2, 0x1.ce1a6ap-4,
                           -0x1.b68b54p-6, 0x1.473ba8p-8,  -0x1.3a17dcp-11};
constexpr double kP64[] = {0x1.06eba8214db69p-3,   -0x1.812746b0379e5p-2,  0x1.ce2f21a042a91p-4,
                           -0x1.b82ce31280487p-6,  0x1.565bcd0cab48fp-8,   -0x1.c02db392a9844p-11,
                           0x1.f9a315e74f98ep-14,  -0x1.f4d09ac01d96fp-17, 0x1.b9c7d26b22248p-20,
                           -0x1.5e09112fc1e47p-23, 0x1.e76916e3ac058p-27,  -0x1.e544fcd941febp-31};

// f32: erf(x) = 1 - e^-G(x) from the switch to 4, where erf is 1. Error of the result 2^-34.4 of itself.
constexpr double kG[] = {-0x1.6f6378p-13, 0x1.21280cp+0, 0x1.444568p-1,  0x1.bb8984p-4,
                         -0x1.9b9d06p-6,  0x1.1170dcp-8, -0x1.c7d9fp-12, 0x1.624f4p-16};

// f64: erfc(x) = e^(-x^2) E(t) / (1 + 2 x) with t = (x - 4) / (x + 4), for 0.47 <= x <= 28 (Shepherd and Laframboise
// 1981). Relative error 2^-63.9.
constexpr double kE[] = {0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a28ep-3,  0x1.f7f5df66fd7abp-7,   0x1.16ecefcfa5396p-4,
                         -0x1.9ddb23c3e904ap-4,  0x1.7fee004e1253cp-4,   -0x1.0fb06dfe4a257p-4,  0x1.3079edf682a32p-5,
                         -0x1.09623884e7f6ep-6,  0x1.49c672863acc9p-8,   -0x1.8d4a9a08d50f7p-11, -0x1.a1df257eb98fcp-13,
                         0x1.3be03eba3e113p-13,  -0x1.9959438c6e26bp-16, -0x1.7884a2ce956cap-17, 0x1.7f28e5f4c6c7ep-18,
                         0x1.397159065e079p-22,  -0x1.bb1bd8d239a6dp-21, 0x1.4af0ef44f38fbp-24,  0x1.d9ef6962f631ap-24,
                         -0x1.51dfdc7c6d423p-26, -0x1.f4470907e4e44p-27, 0x1.480a2aa1b0667p-29,  0x1.96880adcebb17p-30};

// Giles (2010): erf_inv(x) = x I(w) with w = -ln(1 - x^2), in three pieces, in w - 3.125, sqrt(w) - 3.25 and sqrt(w)
// - 5. Relative errors 2^-52.8, 2^-53.3, 2^-51.7.
constexpr double kCentral[] = {
    0x1.a755e7c99ae87p+0,   0x1.ebd80d9b13e23p-3,   -0x1.8b6c33114fb89p-8,  -0x1.845769484d9cbp-11,
    0x1.879c2a2143f45p-13,  -0x1.d1d1f7b9a51e4p-17, -0x1.6e8a5445b9e8cp-20, 0x1.c6b4f5f6a612bp-22,
    -0x1.f36cd348afea7p-26, -0x1.1a9e3e2b92eb2p-28, 0x1.20f4616314209p-30,  -0x1.dc575b433e581p-35,
    -0x1.c8817c7bc20cep-37, 0x1.729f3bb1bbe8ep-39,  -0x1.6f872d7c8d7acp-44, -0x1.6d1b319a29501p-45,
    0x1.df142680b4eb9p-48,  0x1.72ec3f7c1a89cp-56,  -0x1.355688db29829p-53, 0x1.9d17ca21ac798p-57,
    0x1.863450cca7a72p-60,  -0x1.8fa7bb5e3fe93p-63, -0x1.467443ca99bf8p-68};
constexpr double kMiddle[] = {
    0x1.8abcc380d5a47p+1,   0x1.0158a6d641d3bp+0,   0x1.5ffcfe5b7a381p-8,   -0x1.ebadabb8a1cd7p-9,
    0x1.468eeca3e3d21p-9,   -0x1.ba92412fdab85p-10, 0x1.f3cc560d4421dp-11,  -0x1.7448a92801d6ap-12,
    0x1.932c67758f8ap-16,   0x1.1e68599813d73p-14,  -0x1.8cee0561a4944p-15, 0x1.a298bf244f0fep-17,
    0x1.882ba11b0ac4bp-19,  -0x1.0d58ca87dd9bp-18,  0x1.941e5908ff1a3p-20,  0x1.3469572024b37p-26,
    -0x1.2a3adbda6e36fp-22, 0x1.864e81bba4469p-24,  0x1.bbcbb4f5b50dfp-29};
constexpr double kTail[] = {0x1.3664ddd1ad7fbp+2,   0x1.02a30d1fba0b1p+0,   -0x1.22ea5df312862p-13,
                            -0x1.c2f36a833e251p-13, 0x1.3ebf4f2f7b999p-14,  -0x1.4a349c093be3ap-16,
                            0x1.2fbce7038303ap-18,  -0x1.0a8c0c9c3d633p-20, 0x1.ebea8656387b1p-23,
                            -0x1.22ffc17858e4bp-24, 0x1.f2772e390f2dp-26,   -0x1.001c54b18ce48p-26,
                            0x1.0b23c731e13a7p-27,  -0x1.06b8e7accf6dbp-28, 0x1.8371445514c18p-30,
                            -0x1.0f829aafc9e15p-32, -0x1.709ebfcecd419p-39};

Scalar erf_f32(const Scalar& x) {
  const Scalar a = abs(x);
  const Scalar near_zero = fma(x, polynomial(x * x, kP32), x);
  const Scalar g = polynomial(where(a > 4, 4, a), kG);
  return where(a < kSwitch32, near_zero, copy_sign(expm1_in_range(-g), x));
}

// For x >= 0.47: e^(-x^2), whose exponent needs more than one word, times E(t) / (1 + 2 x).
Scalar erfc_of_large(const Scalar& x) {
  const Scalar bounded = where(x > 28, 28, x);
  const Scalar t = (bounded - 4) / (bounded + 4);
  const DoubleWord square = product(bounded, bounded);
  return exp_sum(-square.high, -square.low) * (polynomial(t, kE) / fma(bounded, 2, 1));
}

Scalar erf_near_zero(const Scalar& x) { return fma(x, polynomial(x * x, kP64), x); }

Scalar erf_f64(const Scalar& x) {
  const Scalar a = abs(x);
  const Scalar of_large = 1 - erfc_of_large(where(a < kSwitch64, kSwitch64, a));
  return where(a < kSwitch64, erf_near_zero(x), copy_sign(of_large, x));
}

Scalar erfc_f64(const Scalar& x) {
  const Scalar a = abs(x);
  const Scalar of_large = erfc_of_large(where(a < 0.5, 0.5, a));
  const Scalar mirrored = where(x < 0, 2 - of_large, of_large);
  return where(a < 0.5, 1 - erf_near_zero(x), mirrored);
}

Scalar erf_inv_f64(const Scalar& x) {
  const Scalar a = abs(x);
  const Scalar w = -log((1 - a) * (1 + a));
  const Scalar root = sqrt(w);
  const Scalar outer = where(w < 16, polynomial(root - 3.25, kMiddle), polynomial(root - 5, kTail));
  const Scalar factor = where(w < 6.25, polynomial(w - 3.125, kCentral), outer);
  return where(equal(a, 1), copy_sign(x.like(INFINITY), x), x * factor);
}

}  // namespace

Scalar erf(const Scalar& x) { return x.dtype() == DType::kF64 ? erf_f64(x) : erf_f32(x); }

Scalar erfc(const Scalar& x) { return x.dtype() == DType::kF64 ? erfc_f64(x) : through_f64<erfc_f64>(x); }

Scalar erf_inv(const Scalar& x) { return x.dtype() == DType::kF64 ? erf_inv_f64(x) : through_f64<erf_inv_f64>(x); }

}  // namespace ingot::loops::math
