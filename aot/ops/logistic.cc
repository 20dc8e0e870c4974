#include "aot/ops/support/complex/complex_term.h"

namespace ingot::logistic_op {
namespace {

double value(double x) {
  const double e = std::exp(-std::abs(x));  // at most 1: no overflow, no loss in the lower tail
  return (x < 0 ? e : 1) / (1 + e);
}

Complex value(Complex z) { return 1.0 / (1.0 + std::exp(-z)); }

// 1 / (1 + e^-z), or e^z / (1 + e^z), so that the power is at most 1.
constexpr auto parts = [](ComplexTerm z) {
  const Term is_right = z.re >= z.re.like(0);
  const ComplexTerm power = exp({-abs(z.re), where(is_right, -z.im, z.im)});
  const ComplexTerm one{z.re.like(1), z.re.like(0)};
  return where(is_right, one, power) / (one + power);
};

// dx = dy y (1 - y)
constexpr auto dx = [](Term, Term y, Term dy) { return dy * y * (1 - y); };

std::vector<Sample> samples() {
  return unary_samples("stablehlo.logistic", kFloats | kComplex, {-100, 100}, Range{-3, 3});
}

}  // namespace

extern const OpDef kLogistic = unary<(kFloats | kComplex)>({
    .name = "stablehlo.logistic",
    .doc = "y = 1 / (1 + e^-x), the sigmoid.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kLogistic>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::logistic_op
