#include "aot/ops/support/complex/complex_term.h"

namespace ingot::tanh_op {
namespace {

double value(double x) { return std::tanh(x); }

Complex value(Complex z) { return std::tanh(z); }

constexpr auto parts = [](ComplexTerm z) { return tanh(z); };

// dx = dy (1 - y²)
constexpr auto dx = [](Term, Term y, Term dy) { return dy * (1 - square(y)); };

std::vector<Sample> samples() { return unary_samples("stablehlo.tanh", kFloats | kComplex, {-20, 20}, Range{-3, 3}); }

}  // namespace

extern const OpDef kTanh = unary<(kFloats | kComplex)>({
    .name = "stablehlo.tanh",
    .doc = "y = tanh(x).",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kTanh>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::tanh_op
