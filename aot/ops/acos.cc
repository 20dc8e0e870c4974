#include "aot/ops/support/complex/complex_arcs.h"

namespace ingot::acos_op {
namespace {

double value(double x) { return std::acos(x); }

Complex value(Complex z) { return std::acos(z); }

constexpr auto parts = [](ComplexTerm z) { return acos(z); };

// dx = -dy / √(1 - x²)
constexpr auto dx = [](Term x, Term, Term dy) { return -dy * ((1 - x) * (1 + x)).unary(kRsqrt); };

std::vector<Sample> samples() { return unary_samples("chlo.acos", kFloats | kComplex, {-1, 1}, Range{-0.9, 0.9}); }

}  // namespace

extern const OpDef kAcos = chlo_unary<(kFloats | kComplex)>({
    .name = "chlo.acos",
    .doc = "y = the angle in [0, pi] whose cosine is x; NaN where |x| > 1.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kAcos>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::acos_op
