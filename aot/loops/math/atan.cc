// The angle of a point.
#include "aot/loops/math/functions.h"

namespace ingot::loops::math {
namespace {

// atan t = t + t^3 P(t^2) for |t| <= tan(pi/8). Relative error 2^-59.5.
constexpr double kP[] = {-0x1.555555555553dp-2, 0x1.99999999958dap-3, -0x1.24924922b0b09p-3, 0x1.c71c70e77560cp-4,
                         -0x1.745cf905ee898p-4, 0x1.3b111c064f4ep-4,  -0x1.10ebd956af269p-4, 0x1.df1127dc4fd2cp-5,
                         -0x1.9cdb023ed3db2p-5, 0x1.37ea4a6b0db43p-5, -0x1.2596af08194d6p-6};
constexpr double kPiLow = 0x1.1a62633145c07p-53;  // pi - M_PI

// In the first octant atan(small / large), from pi/4 where the quotient is above tan(pi/8); then mirrored.
Scalar atan2_f64(const Scalar& y, const Scalar& x) {
  const Scalar a = abs(y), b = abs(x);
  const Scalar is_steep = a > b;
  const Scalar unscaled_large = where(is_steep, a, b);
  const Scalar scale = where(unscaled_large > 0x1p1000, x.like(0x1p-10), 1);  // large + small must not overflow
  const Scalar large = unscaled_large * scale;
  const Scalar small = where(is_steep, b, a) * scale;
  const Scalar is_near_diagonal = small > large * 0.41421356237309503;
  const Scalar t = where(is_near_diagonal, small - large, small) / where(is_near_diagonal, small + large, large);
  const Scalar z = t * t;
  const Scalar correction = t * z * polynomial(z, kP);
  const Scalar near_axis = t + correction;
  const Scalar near_diagonal = M_PI_4 + (t + (correction + kPiLow / 4));
  const Scalar computed = where(is_near_diagonal, near_diagonal, near_axis);
  const Scalar of_zeros = where(equal(unscaled_large, 0), 0, computed);
  const Scalar octant = where(equal(small, large) & (unscaled_large > 0), M_PI_4, of_zeros);  // infinities too
  const Scalar quadrant = where(is_steep, M_PI_2 - (octant - kPiLow / 2), octant);
  const Scalar x_is_negative = x.bitcast(DType::kI64) < 0;
  const Scalar angle = where(x_is_negative, M_PI - (quadrant - kPiLow), quadrant);
  return where(is_nan(x) | is_nan(y), x + y, copy_sign(angle, y));
}

}  // namespace

Scalar atan2(const Scalar& y, const Scalar& x) {
  if (x.dtype() == DType::kF64) return atan2_f64(y, x);
  return atan2_f64(y.convert(DType::kF64), x.convert(DType::kF64)).convert(DType::kF32);
}

}  // namespace ingot::loops::math
