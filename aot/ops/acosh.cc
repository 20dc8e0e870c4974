#include "aot/ops/support/complex/complex_arcs.h"

namespace ingot::acosh_op {
namespace {

double value(double x) { return std::acosh(x); }

Complex value(Complex z) { return std::acosh(z); }

constexpr auto parts = [](ComplexTerm z) { return acosh(z); };

// dx = dy / √(x² - 1)
constexpr auto dx = [](Term x, Term, Term dy) { return dy * ((x - 1) * (x + 1)).unary(kRsqrt); };

std::vector<Sample> samples() { return unary_samples("chlo.acosh", kFloats | kComplex, {1, 100}, Range{1.5, 5}); }

}  // namespace

extern const OpDef kAcosh = chlo_unary<(kFloats | kComplex)>({
    .name = "chlo.acosh",
    .doc = "y = the number y >= 0 whose hyperbolic cosine is x; NaN where x < 1.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kAcosh>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::acosh_op
