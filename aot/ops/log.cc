#include "aot/ops/support/complex/complex_term.h"

namespace ingot::log_op {
namespace {

double value(double x) { return std::log(x); }

Complex value(Complex z) { return std::log(z); }

constexpr auto parts = [](ComplexTerm z) { return log(z); };

// dx = dy / x
constexpr auto dx = [](Term x, Term, Term dy) { return dy / x; };

std::vector<Sample> samples() { return unary_samples("stablehlo.log", kFloats | kComplex, {-1, 1000}, Range{0.5, 3}); }

}  // namespace

extern const OpDef kLog = unary<(kFloats | kComplex)>({
    .name = "stablehlo.log",
    .doc = "y = ln(x); NaN for negative x.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kLog>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::log_op
