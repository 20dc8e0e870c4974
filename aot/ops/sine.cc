#include "aot/ops/support/complex/complex_term.h"

namespace ingot::sine_op {
namespace {

double value(double x) { return std::sin(x); }

Complex value(Complex z) { return std::sin(z); }

constexpr auto parts = [](ComplexTerm z) { return divided_by_i(sinh(times_i(z))); };

// dx = dy cos(x)
constexpr auto dx = [](Term x, Term, Term dy) { return dy * cos(x); };

std::vector<Sample> samples() {
  return unary_samples("stablehlo.sine", kFloats | kComplex, {-1000, 1000}, Range{-3, 3});
}

}  // namespace

extern const OpDef kSine = unary<(kFloats | kComplex)>({
    .name = "stablehlo.sine",
    .doc = "y = sin(x), x in radians.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kSin>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::sine_op
