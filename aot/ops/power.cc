#include "aot/ops/support/complex/complex_term.h"

namespace ingot::power_op {
namespace {

double value(double x, double y) { return std::pow(x, y); }

// By squaring, wrapping. Negative powers: 1 and -1 have them, every other x gives 0.
int64_t value(int64_t x, int64_t y, DType dtype) {
  if (is_signed(dtype) && y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
  uint64_t z = 1, square = static_cast<uint64_t>(x);
  for (auto rest = static_cast<uint64_t>(y); rest != 0; rest >>= 1, square *= square) {
    if (rest & 1) z *= square;
  }
  return static_cast<int64_t>(z);
}

Complex value(Complex z, Complex w) { return z == 0.0 ? Complex(w == 0.0 ? 1 : 0) : std::pow(z, w); }

// e^(w log z); 0^0 = 1 and 0^w = 0.
constexpr auto parts = [](ComplexTerm z, ComplexTerm w) {
  const ComplexTerm power = exp(w * log(z));
  const Term none = z.re.like(0);
  const Term is_zero = both(equal(z.re, none), equal(z.im, none));
  const Term at_zero = where(both(equal(w.re, none), equal(w.im, none)), none.like(1), none);
  return where(is_zero, ComplexTerm{at_zero, none}, power);
};

// dx = dz y x^(y-1), and 0 where y = 0
constexpr auto dx = [](Term x, Term y, Term, Term dz) {
  const Term is_zero = equal(y, y.like(0));
  return where(is_zero, 0, dz * y * pow(x, where(is_zero, 1, y - 1)));
};
// dy = dz z ln(x), and 0 where x = 0
constexpr auto dy = [](Term x, Term, Term z, Term dz) { return dz * z * log(where(equal(x, x.like(0)), 1, x)); };

loops::Expr integer_power(const Scalar& x, const Scalar& y) {
  const DType dtype = x.dtype();
  const auto bit = [&](int k) { return equal((y >> k) & 1, 1); };
  Scalar z = x.like(1), square = x;
  for (int k = 0; k < info(dtype).bits; ++k) {
    z = where(bit(k), z * square, z);
    square = square * square;
  }
  if (!is_signed(dtype)) return z;
  const Scalar of_minus_one = where(bit(0), -1, x.like(1));
  const Scalar inverse = where(equal(x, 1), 1, where(equal(x, -1), of_minus_one, 0));
  return where(y < 0, inverse, z);
}

loops::Expr element(loops::ElementArgs& args) {
  if (is_float(args.dtype())) return loops::elementwise(args, ScalarOp::kPower);
  return integer_power({args.b, args.operand(0)}, {args.b, args.operand(1)});
}

std::vector<Sample> samples() {
  std::vector<Sample> samples = binary_samples("stablehlo.power", kNumbers | kComplex, {-8, 8}, Range{0.5, 3});
  for (Sample& sample : samples) {
    sample.integer_low = -9;
    sample.integer_high = 9;
  }
  return samples;
}

}  // namespace

extern const OpDef kPower = binary<(kNumbers | kComplex)>({
    .name = "stablehlo.power",
    .doc = "z = x^y; integers wrap, and a negative power of an integer other than 1 and -1 is 0.",
    .evaluate = evaluate_binary<value, value, value>,
    .gradient = binary_gradient<dx, dy>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = 3 * kMathFlops,
});

}  // namespace ingot::power_op
