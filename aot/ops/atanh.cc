#include "aot/ops/support/complex/complex_arcs.h"

namespace ingot::atanh_op {
namespace {

double value(double x) { return std::atanh(x); }

Complex value(Complex z) { return std::atanh(z); }

constexpr auto parts = [](ComplexTerm z) { return atanh(z); };

// dx = dy / (1 - x²)
constexpr auto dx = [](Term x, Term, Term dy) { return dy / ((1 - x) * (1 + x)); };

std::vector<Sample> samples() { return unary_samples("chlo.atanh", kFloats | kComplex, {-1, 1}, Range{-0.9, 0.9}); }

}  // namespace

extern const OpDef kAtanh = chlo_unary<(kFloats | kComplex)>({
    .name = "chlo.atanh",
    .doc = "y = the number whose hyperbolic tangent is x; NaN where |x| > 1.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kAtanh>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::atanh_op
