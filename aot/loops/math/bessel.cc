// Bessel functions, in f64.
#include "aot/loops/math/functions.h"

namespace ingot::loops::math {
namespace {

// I1(x) = x N(x^2) up to 8, and e^-x I1(x) = F(16/x - 1) / sqrt(x) beyond. Relative errors 2^-56.1 and 2^-55.5.
constexpr double kNearOne[] = {0x1p-1,
                               0x1p-4,
                               0x1.5555555555556p-9,
                               0x1.c71c71c71c70fp-15,
                               0x1.6c16c16c16d2p-21,
                               0x1.845c8a0ce3807p-28,
                               0x1.27e4fb77a30bbp-35,
                               0x1.522a43f427f3bp-43,
                               0x1.2c9758fda3036p-51,
                               0x1.ab81e74959342p-60,
                               0x1.f176cf1f1237fp-69,
                               0x1.e260acd0c17e6p-78,
                               0x1.8be972f0e252ep-87,
                               0x1.159f90570389ap-96,
                               0x1.5ac53da80dc82p-106,
                               0x1.38dbeef3ff4f1p-116,
                               0x1.08fbc76dd1dfp-125};
constexpr double kFar[] = {
    0x1.8ebe783a8403p-2,    -0x1.3f796198ee628p-7,  -0x1.cbc54df1ece65p-13, -0x1.f89c23066df77p-17,
    -0x1.ec8e10175a342p-20, -0x1.76137e6638253p-22, -0x1.ad8db6cd37c44p-24, -0x1.727a74c44adc3p-25,
    -0x1.9180fa9e72735p-26, -0x1.21893c80499c6p-27, 0x1.cd81adb3d0a6p-28,   0x1.e20df7bb74606p-27,
    0x1.9f1fda81fd09dp-28,  -0x1.062f5f1c40b22p-27, -0x1.14659359a2a9fp-27, 0x1.d42a11ea98134p-29,
    0x1.bdc8d1078fc94p-28,  -0x1.857471f23c7a4p-30, -0x1.162a0f723f77dp-28, 0x1.1acb620f02de9p-31,
    0x1.fcea4dcbdf2a3p-30,  -0x1.26f052ee6f294p-33, -0x1.283d8111f9b3ap-31, 0x1.33938e2d0cc91p-36,
    0x1.433256b4fe601p-34};

Scalar bessel_i1e_f64(const Scalar& x) {
  const Scalar a = abs(x);
  const Scalar is_far = a > 8;
  const Scalar near = where(is_far, 8, a), far = where(is_far, a, 8);
  const Scalar of_near = exp(-near) * polynomial(near * near, kNearOne) * near;
  const Scalar of_far = polynomial(16 / far - 1, kFar) / sqrt(far);
  return copy_sign(where(is_far, of_far, of_near), x);
}

}  // namespace

Scalar bessel_i1e(const Scalar& x) { return through_f64<bessel_i1e_f64>(x); }

}  // namespace ingot::loops::math
