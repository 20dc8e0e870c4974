#include "aot/ops/support/complex/complex_term.h"

namespace ingot::exponential_minus_one_op {
namespace {

double value(double x) { return std::expm1(x); }

Complex value(Complex z) { return Complex(std::exp(std::complex<long double>(z)) - 1.0L); }

// e^x cos(y) - 1 = (e^x - 1) cos(y) - 2 sin²(y / 2)
constexpr auto parts = [](ComplexTerm z) {
  const ComplexTerm power = exp(z);
  const Term less = z.re.unary(kExponentialMinusOne), half = sin(z.im * 0.5);
  const Term re = where(z.re > z.re.like(1), power.re - 1, less * cos(z.im) - 2.0 * half * half);
  return ComplexTerm{re, power.im};
};

// dx = dy (y + 1)
constexpr auto dx = [](Term, Term y, Term dy) { return dy * (y + 1); };

std::vector<Sample> samples() {
  return unary_samples("stablehlo.exponential_minus_one", kFloats | kComplex, {-100, 100}, Range{-3, 3});
}

}  // namespace

extern const OpDef kExponentialMinusOne = unary<(kFloats | kComplex)>({
    .name = "stablehlo.exponential_minus_one",
    .doc = "y = e^x - 1, accurate near 0.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kExpm1>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::exponential_minus_one_op
