#include "aot/ops/support/complex/complex_arcs.h"

namespace ingot::asin_op {
namespace {

double value(double x) { return std::asin(x); }

Complex value(Complex z) { return std::asin(z); }

constexpr auto parts = [](ComplexTerm z) { return asin(z); };

// dx = dy / √(1 - x²)
constexpr auto dx = [](Term x, Term, Term dy) { return dy * ((1 - x) * (1 + x)).unary(kRsqrt); };

std::vector<Sample> samples() { return unary_samples("chlo.asin", kFloats | kComplex, {-1, 1}, Range{-0.9, 0.9}); }

}  // namespace

extern const OpDef kAsin = chlo_unary<(kFloats | kComplex)>({
    .name = "chlo.asin",
    .doc = "y = the angle in [-pi/2, pi/2] whose sine is x; NaN where |x| > 1.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kAsin>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::asin_op
