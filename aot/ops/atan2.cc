#include "aot/ops/support/complex/complex_term.h"

namespace ingot::atan2_op {
namespace {

double value(double x, double y) { return std::atan2(x, y); }

Complex value(Complex z, Complex w) {
  return Complex(0, -1) * std::log((w + Complex(0, 1) * z) / std::sqrt(z * z + w * w));
}

constexpr auto parts = [](ComplexTerm z, ComplexTerm w) {
  return divided_by_i(log((w + times_i(z)) / sqrt(z * z + w * w)));
};

// dx = dz y / (x² + y²)
constexpr auto dx = [](Term x, Term y, Term, Term dz) { return dz * y / (square(x) + square(y)); };
// dy = -dz x / (x² + y²)
constexpr auto dy = [](Term x, Term y, Term, Term dz) { return -(dz * x / (square(x) + square(y))); };

std::vector<Sample> samples() {
  return binary_samples("stablehlo.atan2", kFloats | kComplex, {-100, 100}, Range{0.5, 3});
}

}  // namespace

extern const OpDef kAtan2 = binary<(kFloats | kComplex)>({
    .name = "stablehlo.atan2",
    .doc = "z = the angle of the point (y, x), in [-pi, pi]: the arc tangent of x / y with the signs of both.",
    .evaluate = evaluate_binary<value, nullptr, value>,
    .gradient = binary_gradient<dx, dy>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kAtan2>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::atan2_op
