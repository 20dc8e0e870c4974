#include "aot/ops/support/complex/complex_arcs.h"

#include <cmath>
#include <numbers>

namespace ingot {
namespace {

// For x, y >= 0 and z = x + iy: asin(z) = atan2(x, side) + i height, acos(z) = atan2(side, x) - i height.
struct Arc {
  Term side, height;
};

// Hull, Fairgrieve, Tang, "Implementing the complex arcsine and arccosine functions using exception handling", 1997:
// a = (|z + 1| + |z - 1|) / 2, side = sqrt((a - x) (a + x)), height = log1p(a - 1 + sqrt((a - 1) (a + 1))), where a - x
// and a - 1 are sums of positive terms. Far from 0, side = y and height = log(2 |z|).
Arc arc_of(Term x, Term y) {
  constexpr double kFar = 1e10;
  const Term above = x + 1, beside = abs(x - 1);
  const Term r = hypot(above, y), s = hypot(beside, y);
  const Term a = (r + s) * 0.5;
  const Term is_inner = x <= x.like(1);
  const Term right = r + above, left = s + beside;
  const Term sum = a + x, one_more = a + 1;
  const Term inner_side = sqrt(sum * (y * (y / right) + left) * 0.5);
  const Term outer_side = y * sqrt((sum / right + sum / left) * 0.5);
  const Term side = where(is_inner, inner_side, outer_side);

  const Term is_left = x < x.like(1);
  const Term inner_rest = y * (y / right + y / left) * 0.5;
  const Term outer_rest = (y * (y / right) + left) * 0.5;
  const Term inner_root = y * sqrt((one_more / right + one_more / left) * 0.5);
  const Term outer_root = sqrt(outer_rest * one_more);
  const Term height = log_plus_one(where(is_left, inner_rest, outer_rest) + where(is_left, inner_root, outer_root));

  const Term is_far = x.binary(kMaximum, y) > x.like(kFar);
  const Term far_height = log_hypot(x, y) + std::numbers::ln2;
  return {where(is_far, y, side), where(is_far, far_height, height)};
}

}  // namespace

ComplexTerm asin(ComplexTerm z) {
  const Arc arc = arc_of(abs(z.re), abs(z.im));
  return {atan2(z.re, arc.side), copy_sign(arc.height, z.im)};
}

ComplexTerm acos(ComplexTerm z) {
  const Arc arc = arc_of(abs(z.re), abs(z.im));
  return {atan2(arc.side, z.re), -copy_sign(arc.height, z.im)};
}

ComplexTerm asinh(ComplexTerm z) {
  const Arc arc = arc_of(abs(z.im), abs(z.re));
  return {copy_sign(arc.height, z.re), atan2(z.im, arc.side)};
}

ComplexTerm acosh(ComplexTerm z) {
  const Arc arc = arc_of(abs(z.re), abs(z.im));
  return {arc.height, copy_sign(atan2(arc.side, z.re), z.im)};
}

ComplexTerm atan(ComplexTerm z) { return divided_by_i(atanh(times_i(z))); }

// atanh(z) = log1p(4x / ((1 - x)² + y²)) / 4 + i atan2(2y, (1 - x) (1 + x) - y²) / 2 for x >= 0. Far from 0 the real
// part is x / |z|² and the imaginary one +-pi/2; at 1, where the square underflows, the real part is log(2 / |1 - z|)
// / 2.
ComplexTerm atanh(ComplexTerm z) {
  constexpr double kFar = 1e10, kNear = 1e-100;
  const Term x = abs(z.re), y = abs(z.im);
  const Term beside = 1.0 - x;
  const Term length = hypot(beside, y);
  const Term at_one = (std::numbers::ln2 - log(length)) * 0.5;
  const Term middle = log_plus_one(4.0 * x / length / length) * 0.25;
  const Term half = hypot(x * 0.5, y * 0.5);
  const Term is_far = x.binary(kMaximum, y) > x.like(kFar);
  const Term away = where(is_infinite(half), x.like(0), x * 0.25 / half / half);
  const Term re = where(is_far, away, where(length < length.like(kNear), at_one, middle));
  const Term angle = atan2(2.0 * y, beside * (1.0 + x) - y * y) * 0.5;
  const Term im = where(is_far, std::numbers::pi / 2, angle);
  return {copy_sign(re, z.re), copy_sign(im, z.im)};
}

}  // namespace ingot
