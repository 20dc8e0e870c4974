// e^x and what is made of it. x = n ln 2 + r with |r| <= ln(2)/2, so e^x = 2^n e^r;
// e^r - 1 = r + r^2 q(r), with q minimax.
#include "aot/loops/math/functions.h"

namespace ingot::loops::math {
namespace {

struct ExpTable {
  double ln2_high, ln2_low;  // n * ln2_high is exact
  double least, most;        // beyond, e^x is 0 or infinite
  double expm1_least;        // below, e^x - 1 is -1
  std::span<const double> q;
};

// Relative error of e^r - 1: 2^-26.2 and 2^-61.7.
constexpr double kQ32[] = {0x1p-1, 0x1.5554aep-3, 0x1.555486p-5, 0x1.12288p-7, 0x1.6d99bep-10};
constexpr double kQ64[] = {0x1p-1,
                           0x1.5555555555559p-3,
                           0x1.555555555555ap-5,
                           0x1.111111110f67dp-7,
                           0x1.6c16c16c1441bp-10,
                           0x1.a01a01affb2bcp-13,
                           0x1.a01a01b0c85d7p-16,
                           0x1.71ddf8165d71dp-19,
                           0x1.27e4c57ac4268p-22,
                           0x1.af5f331364fadp-26,
                           0x1.1f959f53cf841p-29};

// f32: 2^f for |f| <= 1/2. Relative error 2^-28.0.
constexpr double kPowerOfTwo[] = {
    1, 0x1.62e432p-1, 0x1.ebfbe2p-3, 0x1.c6ae72p-5, 0x1.3b270ep-7, 0x1.5f727ap-10, 0x1.470b52p-13};

const ExpTable& exp_table(DType dtype) {
  // ln 2 in two parts as in Cephes (f32) and fdlibm (f64).
  static constexpr ExpTable kF32{0x1.63p-1, -0x1.bd0106p-13, -104, 89, -18, kQ32};
  static constexpr ExpTable kF64{0x1.62e42feep-1, 0x1.a39ef35793c76p-33, -746, 710, -38, kQ64};
  return dtype == DType::kF64 ? kF64 : kF32;
}

struct Reduced {
  Scalar n;  // an integer as wide as x
  Scalar r;
  Scalar lost;  // what rounding took from r
};

// Of x + tail, for a tail below a unit in the last place of x.
Reduced reduce(const Scalar& x, const Scalar* tail = nullptr) {
  const ExpTable& table = exp_table(x.dtype());
  const double shift = layout_of(x.dtype()).shift;
  const Scalar shifted = fma(x, M_LOG2E, shift);
  const Scalar n = shifted - shift;
  const Scalar whole = fma(n, -table.ln2_high, x);  // exact
  const Scalar exact = tail ? whole + *tail : whole;
  const Scalar r = fma(n, -table.ln2_low, exact);
  const DType integer = signed_of(x.dtype());
  return {shifted.bitcast(integer) - x.like(shift).bitcast(integer), r, fma(n, -table.ln2_low, exact - r)};
}

// e^r - 1 - r, plus `more`.
Scalar rest_of(const Scalar& r, const Scalar& more) { return fma(r * r, polynomial(r, exp_table(r.dtype()).q), more); }

// NaN stays.
Scalar at_most(const Scalar& x, double most) { return where(x > most, most, x); }
Scalar clamp(const Scalar& x, double least, double most) { return at_most(where(x < least, least, x), most); }

ScaledPower parts_of(const Reduced& reduced) {
  const DoubleWord head = fast_sum(reduced.r.like(1), reduced.r);
  return {{head.high, head.low + rest_of(reduced.r, reduced.lost)}, reduced.n};
}

// 2^n e^r; here what r lost is too little to matter.
Scalar exp_of(const Reduced& reduced) { return scale(rest_of(reduced.r, reduced.r) + 1, reduced.n); }

// e^(x + tail) for x that is not above `most`. Where it is 0 it is not computed: for a result below the least float some
// processors take hundreds of cycles, and masks of attention are full of them.
Scalar exp_below_most(const Scalar& x, const Scalar* tail = nullptr) {
  const Scalar vanishes = x < exp_table(x.dtype()).least;
  return where(vanishes, 0, exp_of(reduce(where(vanishes, 0, x), tail)));
}

}  // namespace

Scalar scale(const Scalar& x, const Scalar& n) {
  const Scalar shift = x.like(layout_of(x.dtype()).shift);
  return x.apply(ScalarOp::kScale, (n + shift.bitcast(n.dtype())).bitcast(x.dtype()));
}

// The first step is exact.
Scalar scale_down(const Scalar& x, const Scalar& n) {
  constexpr int kLift = 64;
  return x * power_of_two(n + kLift, x.dtype()) * std::ldexp(1, -kLift);
}

Scalar exp_sum(const Scalar& x, const Scalar& tail) {
  return exp_below_most(at_most(x, exp_table(x.dtype()).most), &tail);
}

ScaledPower exp_parts(const Scalar& x, const Scalar* tail) {
  const ExpTable& table = exp_table(x.dtype());
  return parts_of(reduce(clamp(x, table.least, table.most + 1), tail));  // half of it may be finite
}

ScaledPower exp_parts_in_range(const Scalar& x, const Scalar& tail) { return parts_of(reduce(x, &tail)); }

Scalar exp(const Scalar& x) { return exp_below_most(at_most(x, exp_table(x.dtype()).most)); }

Scalar expm1_in_range(const Scalar& x) {
  const Reduced reduced = reduce(x);
  const Scalar power = power_of_two(reduced.n, x.dtype());
  return fma(power, rest_of(reduced.r, reduced.lost), fma(power, reduced.r, power - 1));
}

// 2 (2^(n-1) (e^r - 1) + (2^(n-1) - 1/2)), which is in range for every n.
Scalar expm1(const Scalar& x) {
  const ExpTable& table = exp_table(x.dtype());
  const Reduced reduced = reduce(clamp(x, table.expm1_least, table.most));
  const Scalar half_power = power_of_two(reduced.n - 1, x.dtype());
  const Scalar half = fma(half_power, rest_of(reduced.r, reduced.lost), fma(half_power, reduced.r, half_power - 0.5));
  return where(abs(x) < std::ldexp(1, -layout_of(x.dtype()).mantissa_bits - 2), x, half + half);
}

// With z = e^-|x|, which never overflows: 1 / (1 + z), or z / (1 + z) for negative x; plus what the division leaves
// over from 1 + z in two parts.
Scalar logistic(const Scalar& x) {
  const Scalar z = exp_below_most(-abs(x));
  const DoubleWord divisor = fast_sum(x.like(1), z);
  const Scalar reciprocal = 1 / divisor.high;
  const Scalar dividend = where(x < 0, z, 1);
  const Scalar quotient = dividend * reciprocal;
  const Scalar remainder = fma(-quotient, divisor.low, fma(-quotient, divisor.high, dividend));
  return fma(remainder, reciprocal, quotient);
}

Scalar power_of_fraction(const Scalar& x) { return polynomial(x, kPowerOfTwo); }

}  // namespace ingot::loops::math
