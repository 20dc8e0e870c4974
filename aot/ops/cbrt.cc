#include "aot/ops/support/complex/complex_term.h"

namespace ingot::cbrt_op {
namespace {

double value(double x) { return std::cbrt(x); }

Complex value(Complex z) { return std::polar(std::cbrt(std::abs(z)), std::arg(z) / 3); }

// The root with the angle nearest to 0.
constexpr auto parts = [](ComplexTerm z) {
  const Term size = hypot(z.re, z.im).unary(kCbrt), angle = atan2(z.im, z.re) / 3;
  return ComplexTerm{size * cos(angle), size * sin(angle)};
};

// dx = dy / (3 y²)
constexpr auto dx = [](Term, Term y, Term dy) { return dy / (3 * square(y)); };

std::vector<Sample> samples() {
  return unary_samples("stablehlo.cbrt", kFloats | kComplex, {-100, 100}, Range{0.5, 3});
}

}  // namespace

extern const OpDef kCbrt = unary<(kFloats | kComplex)>({
    .name = "stablehlo.cbrt",
    .doc = "y = x^(1/3), also for negative x.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kCbrt>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::cbrt_op
