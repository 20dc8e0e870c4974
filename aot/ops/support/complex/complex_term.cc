#include "aot/ops/support/complex/complex_term.h"

#include <cmath>
#include <numbers>

namespace ingot {
namespace {

constexpr double kLog2 = std::numbers::ln2;

Term bits(Term x) { return {x.builder(), x.builder().make(kBitcastConvert, {x}, {}, {{DType::kI64, x.shape()}})}; }

Term integers_like(Term x, int64_t value) {
  return {x.builder(), ops::constant(x.builder(), splat_int({DType::kI64, x.shape()}, value))};
}

Term maximum(Term x, Term y) { return x.binary(kMaximum, y); }
Term either(Term x, Term y) { return x.binary(kOr, y); }

// x y, and 0 where x is 0 and y may be infinite.
Term times_unless_zero(Term x, Term y) { return where(equal(x, x.like(0)), x, x * y); }

// 1 for an infinity, 0 for anything finite, with the sign of x.
Term infinity_as_one(Term x) {
  const Term one = where(is_infinite(x), x.like(1), 0.0);
  return copy_sign(one, x);
}

// cosh(x) = c f and sinh(x) = s f, where c, s and f are finite even where those are not, but nearly.
struct Hyperbolic {
  Term c, s, f;
};

Hyperbolic hyperbolic(Term x) {
  constexpr double kLarge = 700;
  const Term size = abs(x);
  const Term root = exp(size * 0.5);  // cosh(x) = |sinh(x)| = root * root / 2 where x is large
  const Term is_large = size > size.like(kLarge);
  const Term half = root * 0.5;
  const Term c = where(is_large, half, x.unary(kCosh));
  const Term s = where(is_large, copy_sign(half, x), x.unary(kSinh));
  return {c, s, where(is_large, root, 1.0)};
}

}  // namespace

Term atan2(Term y, Term x) { return y.binary(kAtan2, x); }
Term sqrt(Term x) { return x.unary(kSqrt); }
Term log_plus_one(Term x) { return x.unary(kLogPlusOne); }
Term is_infinite(Term x) { return equal(abs(x), x.like(INFINITY)); }

Term copy_sign(Term magnitude, Term sign) {
  const Term is_negative = bits(sign) < integers_like(sign, 0);
  const Term negative = -magnitude;
  return where(is_negative, negative, magnitude);
}

Term unit_scale(Term x, Term y) {
  constexpr int64_t kExponent = int64_t{0x7FF} << 52, kGreatest = int64_t{0x7FE} << 52;
  const Term larger = maximum(abs(x), abs(y));
  const Term exponent = both(bits(larger), integers_like(x, kExponent));
  // That of an infinity or a NaN as that of the greatest finite number.
  const Term finite = exponent.binary(kMinimum, integers_like(x, kGreatest - (int64_t{1} << 52)));
  const Term scale = integers_like(x, kGreatest) - finite;
  return {x.builder(), x.builder().make(kBitcastConvert, {scale}, {}, {{DType::kF64, x.shape()}})};
}

// Knuth, "The Art of Computer Programming", volume 2, 4.2.2.
TwoTerms two_sum(Term x, Term y) {
  const Term sum = x + y;
  const Term y_part = sum - x;
  const Term x_part = sum - y_part;
  return {sum, (x - x_part) + (y - y_part)};
}

// Veltkamp's splitting and Dekker's product: "A Floating-Point Technique for Extending the Available Precision", 1971.
TwoTerms two_square(Term x) {
  const Term square = x * x;
  const Term spread = x * 134217729.0;  // 2^27 + 1
  const Term high = spread - (spread - x);
  const Term low = x - high;
  return {square, ((high * high - square) + 2.0 * high * low) + low * low};
}

Term hypot(Term x, Term y) {
  const Term scale = unit_scale(x, y);
  const Term length = sqrt(square(x * scale) + square(y * scale)) / scale;
  return where(either(is_infinite(x), is_infinite(y)), x.like(INFINITY), length);
}

// Near the unit circle, log1p(|z|² - 1) / 2, the difference from the exact squares; else log(|z|²) / 2.
Term log_hypot(Term x, Term y) {
  const TwoTerms xx = two_square(x), yy = two_square(y);
  const Term plain = xx.high + yy.high;
  const TwoTerms larger{maximum(xx.high, yy.high), xx.low + yy.low};
  const Term smaller = xx.high.binary(kMinimum, yy.high);
  const TwoTerms first = two_sum(larger.high, x.like(-1));
  const TwoTerms second = two_sum(first.high, smaller);
  const Term excess = second.high + ((first.low + second.low) + larger.low);
  const Term is_near = both(plain > plain.like(0.5), plain < plain.like(3));

  constexpr double kLarge = 0x1p500, kSmall = 0x1p-500, kScale = 0x1p600, kLogScale = 600 * kLog2;
  const Term size = maximum(abs(x), abs(y));
  const Term is_large = size > size.like(kLarge), is_small = size < size.like(kSmall);
  const Term scale = where(is_large, 1 / kScale, where(is_small, kScale, size.like(1)));
  const Term offset = where(is_large, kLogScale, where(is_small, -kLogScale, size.like(0)));
  const Term far = log(square(x * scale) + square(y * scale)) * 0.5 + offset;
  const Term length = where(is_near, log_plus_one(excess) * 0.5, far);
  return where(either(is_infinite(x), is_infinite(y)), x.like(INFINITY), length);
}

// Both sides scaled to about 1, so that no product overflows; infinities and zeros as in annex G of the C standard.
ComplexTerm operator/(ComplexTerm x, ComplexTerm y) {
  const Term up = unit_scale(x.re, x.im), down = unit_scale(y.re, y.im);
  const ComplexTerm a = x * up, b = y * down;
  const Term size = square(b.re) + square(b.im);
  const ComplexTerm over{a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im};
  const ComplexTerm quotient = over / size * (down / up);

  const Term by_zero = equal(size, size.like(0));
  const Term infinity = copy_sign(size.like(INFINITY), y.re);
  const ComplexTerm at_zero = x * infinity;
  const Term x_infinite = either(is_infinite(x.re), is_infinite(x.im));
  const Term y_infinite = either(is_infinite(y.re), is_infinite(y.im));
  const ComplexTerm u{infinity_as_one(x.re), infinity_as_one(x.im)}, v{infinity_as_one(y.re), infinity_as_one(y.im)};
  const ComplexTerm outward = ComplexTerm{u.re * y.re + u.im * y.im, u.im * y.re - u.re * y.im} * size.like(INFINITY);
  const ComplexTerm inward = ComplexTerm{x.re * v.re + x.im * v.im, x.im * v.re - x.re * v.im} * size.like(0);
  const ComplexTerm finite = where(by_zero, at_zero, quotient);
  const Term goes_out = both(x_infinite, y_infinite.unary(kNot)), goes_in = both(y_infinite, x_infinite.unary(kNot));
  return where(goes_out, outward, where(goes_in, inward, finite));
}

ComplexTerm exp(ComplexTerm z) {
  const Term half = exp(z.re * 0.5), whole = exp(z.re);
  const Term is_large = is_infinite(whole);
  const Term first = where(is_large, half, whole), second = where(is_large, half, 1.0);
  const Term re = cos(z.im), im = times_unless_zero(sin(z.im), first);
  return {re * first * second, times_unless_zero(im, second)};
}

ComplexTerm log(ComplexTerm z) { return {log_hypot(z.re, z.im), atan2(z.im, z.re)}; }

// t = sqrt((|x| + |z|) / 2): sqrt(z) = t + iy / 2t for x >= 0, else |y| / 2t +- it.
ComplexTerm sqrt(ComplexTerm z) {
  constexpr double kLarge = 0x1p1020, kSmall = 0x1p-960;
  const Term size = maximum(abs(z.re), abs(z.im));
  const Term is_large = size > size.like(kLarge), is_small = size < size.like(kSmall);
  const Term scale = where(is_large, 0x1p-4, where(is_small, 0x1p108, size.like(1)));
  const Term back = where(is_large, 4, where(is_small, 0x1p-54, size.like(1)));
  const Term x = z.re * scale, y = z.im * scale;
  const Term t = sqrt((abs(x) + hypot(x, y)) * 0.5);
  const Term other = abs(y) / (t * 2) * back, root = t * back;
  const Term is_right = x >= x.like(0);
  const ComplexTerm result{where(is_right, root, other), copy_sign(where(is_right, other, root), z.im)};
  const ComplexTerm upward{size.like(INFINITY), z.im}, nothing{size.like(0), z.im};
  return where(is_infinite(z.im), upward, where(equal(size, size.like(0)), nothing, result));
}

ComplexTerm sinh(ComplexTerm z) {
  const Hyperbolic x = hyperbolic(z.re);
  const Term re = times_unless_zero(x.s * cos(z.im), x.f);
  return {re, times_unless_zero(times_unless_zero(sin(z.im), x.c), x.f)};
}

ComplexTerm cosh(ComplexTerm z) {
  const Hyperbolic x = hyperbolic(z.re);
  const Term re = x.c * cos(z.im) * x.f;
  return {re, times_unless_zero(times_unless_zero(sin(z.im), x.s), x.f)};
}

// Kahan, "Branch Cuts for Complex Elementary Functions", 1987: of t = tan(y) and s = sinh(x). For large x,
// tanh(z) = +-1 + 4i sin(y) cos(y) / exp(2|x|).
ComplexTerm tanh(ComplexTerm z) {
  constexpr double kLarge = 22;
  const Term t = z.im.unary(kTan), s = z.re.unary(kSinh);
  const Term beta = 1.0 + t * t;
  const Term below = 1.0 + beta * s * s;
  const ComplexTerm inner{beta * sqrt(1.0 + s * s) * s / below, t / below};
  const Term size = abs(z.re);
  const ComplexTerm outer{copy_sign(size.like(1), z.re), 4.0 * (sin(z.im) * cos(z.im)) * exp(size * -2)};
  return where(size > size.like(kLarge), outer, inner);
}

namespace ops {

ComplexTerm complex_operand(SplitArgs& args, int i, DType part) {
  const Term re(args.b, convert(args.b, args.re(i), part));
  return {re, Term(args.b, convert(args.b, args.im(i), part))};
}

std::vector<Parts> complex_result(SplitArgs& args, ComplexTerm z) {
  const DType part = part_of(args.op.result()->type.dtype);
  Value* re = convert(args.b, z.re, part);
  return {{re, convert(args.b, z.im, part)}};
}

std::vector<Parts> complex_result(SplitArgs& args, Term x) {
  return {{convert(args.b, x, args.op.result()->type.dtype)}};
}

}  // namespace ops
}  // namespace ingot
