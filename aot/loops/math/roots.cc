// Roots: correctly rounded square root and division make most of them.
#include "aot/loops/math/functions.h"

namespace ingot::loops::math {

Scalar rsqrt(const Scalar& x) { return 1 / sqrt(x); }

// e^(ln(a) / 3), then one step of Newton's method on t^3 = a with the residual exact to twice the precision.
Scalar cbrt(const Scalar& x) {
  const bool is_f64 = x.dtype() == DType::kF64;
  const double lift = is_f64 ? 0x1p54 : 0x1p24, lifted_root = is_f64 ? 0x1p18 : 0x1p8;
  const Scalar magnitude = abs(x);
  const Scalar is_small = magnitude < (is_f64 ? 0x1p-960 : 0x1p-100);  // keeps the residual clear of underflow
  const Scalar a = where(is_small, magnitude * lift, magnitude);
  const Scalar t = exp(log(a) * (1.0 / 3));
  const Scalar square = t * t;
  const Scalar residual = fma(square, t, -a) + fma(t, t, -square) * t;
  const Scalar root = t - residual / (square * 3);
  const Scalar unlifted = where(is_small, root * (1 / lifted_root), root);
  const Scalar is_ordinary = (magnitude > 0) & (magnitude < INFINITY);
  return where(is_ordinary, copy_sign(unlifted, x), x);
}

}  // namespace ingot::loops::math
