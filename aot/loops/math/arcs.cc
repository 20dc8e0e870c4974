// The angles of sines, cosines and tangents.
#include "aot/loops/math/functions.h"

namespace ingot::loops::math {
namespace {

// atan t = t + t^3 P(t^2) for |t| <= tan(pi/8). Relative errors 2^-28.4 and 2^-59.5.
constexpr double kAtan32[] = {-0x1.555554p-2, 0x1.99973p-3, -0x1.242028p-3, 0x1.b80f24p-4, -0x1.0841e6p-4};
constexpr double kAtan64[] = {-0x1.555555555553dp-2, 0x1.99999999958dap-3, -0x1.24924922b0b09p-3, 0x1.c71c70e77560cp-4,
                              -0x1.745cf905ee898p-4, 0x1.3b111c064f4ep-4,  -0x1.10ebd956af269p-4, 0x1.df1127dc4fd2cp-5,
                              -0x1.9cdb023ed3db2p-5, 0x1.37ea4a6b0db43p-5, -0x1.2596af08194d6p-6};

// asin t = t + t^3 S(t^2) for |t| <= 1/2. Relative errors 2^-28.4 and 2^-57.4.
constexpr double kAsin32[] = {0x1.555554p-3, 0x1.33343p-4, 0x1.6d5bbap-5, 0x1.fd8da2p-6, 0x1.18f91ep-6, 0x1.13fed4p-5};
constexpr double kAsin64[] = {0x1.5555555555556p-3, 0x1.3333333332ecap-4, 0x1.6db6db6e31f13p-5, 0x1.f1c71c1db0623p-6,
                              0x1.6e8bb1c8209a2p-6, 0x1.1c4d35cf95421p-6, 0x1.c9cf07674736ap-7, 0x1.782651caa6547p-7,
                              0x1.52420b04b37bep-7, 0x1.65a9c4dfcf8b2p-8, 0x1.1d189408314eep-6, -0x1.e6aaa8a0a04ccp-7,
                              0x1.d72b2bc8155f8p-6};

struct ArcTable {
  double pi, pi_low;        // pi in two parts
  double large, scaled_to;  // above, what is added up must first be scaled
  std::span<const double> atan, asin;
};

const ArcTable& arc_table(DType dtype) {
  static constexpr ArcTable kF32{0x1.921fb6p+1, -0x1.777a5cp-24, 0x1p100, 0x1p-10, kAtan32, kAsin32};
  static constexpr ArcTable kF64{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53, 0x1p1000, 0x1p-10, kAtan64, kAsin64};
  return dtype == DType::kF64 ? kF64 : kF32;
}

// The angle of (x, y) in the first octant and at most pi/4, for 0 <= small <= large: atan(small / large), from pi/4
// where the quotient is above tan(pi/8).
Scalar in_octant(const Scalar& small, const Scalar& large) {
  const ArcTable& table = arc_table(small.dtype());
  const Scalar is_near_diagonal = small > large * 0.41421356237309503;
  const Scalar t = where(is_near_diagonal, small - large, small) / where(is_near_diagonal, small + large, large);
  const Scalar z = t * t;
  const Scalar correction = t * z * polynomial(z, table.atan);
  const Scalar near_diagonal = table.pi / 4 + (t + (correction + table.pi_low / 4));
  return where(is_near_diagonal, near_diagonal, t + correction);
}

struct Arc {
  Scalar angle, rest;  // of asin(angle): together
  Scalar is_steep;     // |x| > 1/2: of sqrt((1 - |x|) / 2), which is half of acos|x|
};

Arc arc_of(const Scalar& x) {
  const Scalar a = abs(x);
  const Scalar is_steep = a > 0.5;
  const Scalar z = where(is_steep, (1 - a) * 0.5, a * a);
  const Scalar t = where(is_steep, sqrt(z), a);
  const Scalar lost = fma(-t, t, z) / where(t > 0, t + t, 1);  // by the root
  return {t, fma(t * z, polynomial(z, arc_table(x.dtype()).asin), where(is_steep, lost, 0)), is_steep};
}

}  // namespace

Scalar asin(const Scalar& x) {
  const ArcTable& table = arc_table(x.dtype());
  const auto [angle, rest, is_steep] = arc_of(x);
  const Scalar steep = (table.pi / 2 - 2 * angle) - (2 * rest - table.pi_low / 2);
  return copy_sign(where(is_steep, steep, angle + rest), x);
}

Scalar acos(const Scalar& x) {
  const ArcTable& table = arc_table(x.dtype());
  const auto [angle, rest, is_steep] = arc_of(x);
  const Scalar is_negative = x < 0;
  const Scalar flat = where(is_negative, table.pi / 2 + (angle + (rest + table.pi_low / 2)),
                            table.pi / 2 - (angle + (rest - table.pi_low / 2)));
  const Scalar steep = where(is_negative, table.pi - 2 * (angle + (rest - table.pi_low / 2)), 2 * (angle + rest));
  return where(is_steep, steep, flat);
}

Scalar atan(const Scalar& x) {
  const ArcTable& table = arc_table(x.dtype());
  const Scalar a = abs(x);
  const Scalar is_steep = a > 1;
  const Scalar bounded = where(a > table.large, table.large, a);
  const Scalar octant = in_octant(where(is_steep, 1, bounded), where(is_steep, bounded, 1));
  const Scalar angle = where(is_steep, table.pi / 2 - (octant - table.pi_low / 2), octant);
  return copy_sign(angle, x);
}

// The octant's angle, mirrored.
Scalar atan2(const Scalar& y, const Scalar& x) {
  const ArcTable& table = arc_table(x.dtype());
  const Scalar a = abs(y), b = abs(x);
  const Scalar is_steep = a > b;
  const Scalar unscaled_large = where(is_steep, a, b);
  const Scalar scale = where(unscaled_large > table.large, x.like(table.scaled_to), 1);
  const Scalar large = unscaled_large * scale;
  const Scalar small = where(is_steep, b, a) * scale;
  const Scalar computed = where(equal(unscaled_large, 0), 0, in_octant(small, large));
  const Scalar octant = where(equal(small, large) & (unscaled_large > 0), table.pi / 4, computed);  // infinities too
  const Scalar quadrant = where(is_steep, table.pi / 2 - (octant - table.pi_low / 2), octant);
  const Scalar x_is_negative = x.bitcast(signed_of(x.dtype())) < 0;
  const Scalar angle = where(x_is_negative, table.pi - (quadrant - table.pi_low), quadrant);
  return where(is_nan(x) | is_nan(y), x + y, copy_sign(angle, y));
}

}  // namespace ingot::loops::math
