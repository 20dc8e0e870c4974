#include "aot/ops/support/complex/complex_arcs.h"

namespace ingot::asinh_op {
namespace {

double value(double x) { return std::asinh(x); }

Complex value(Complex z) { return std::asinh(z); }

constexpr auto parts = [](ComplexTerm z) { return asinh(z); };

// dx = dy / √(x² + 1)
constexpr auto dx = [](Term x, Term, Term dy) { return dy * (square(x) + 1).unary(kRsqrt); };

std::vector<Sample> samples() { return unary_samples("chlo.asinh", kFloats | kComplex, {-100, 100}, Range{-3, 3}); }

}  // namespace

extern const OpDef kAsinh = chlo_unary<(kFloats | kComplex)>({
    .name = "chlo.asinh",
    .doc = "y = the number whose hyperbolic sine is x.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kAsinh>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::asinh_op
