#include "aot/ops/support/complex/complex_term.h"

namespace ingot::log_plus_one_op {
namespace {

double value(double x) { return std::log1p(x); }

Complex value(Complex z) { return Complex(std::log(std::complex<long double>(z) + 1.0L)); }

// |1 + z|² - 1 = 2x + x² + y², from exact squares, where it is small.
constexpr auto parts = [](ComplexTerm z) {
  const TwoTerms xx = two_square(z.re), yy = two_square(z.im);
  const Term larger = xx.high.binary(kMaximum, yy.high), smaller = xx.high.binary(kMinimum, yy.high);
  const Term twice = z.re * 2, beside = z.re + 1;
  const TwoTerms squares = two_sum(larger, smaller);
  const TwoTerms sum = two_sum(twice, squares.high);
  const Term excess = sum.high + ((sum.low + squares.low) + (xx.low + yy.low));
  const Term is_near = both(excess > excess.like(-0.5), excess < excess.like(2));
  const Term near = log_plus_one(excess) * 0.5, far = log_hypot(beside, z.im);
  return ComplexTerm{where(is_near, near, far), atan2(z.im, beside)};
};

// dx = dy / (x + 1)
constexpr auto dx = [](Term x, Term, Term dy) { return dy / (x + 1); };

std::vector<Sample> samples() {
  return unary_samples("stablehlo.log_plus_one", kFloats | kComplex, {-2, 100}, Range{-0.5, 3});
}

}  // namespace

extern const OpDef kLogPlusOne = unary<(kFloats | kComplex)>({
    .name = "stablehlo.log_plus_one",
    .doc = "y = ln(1 + x), accurate near 0.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kLog1p>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::log_plus_one_op
