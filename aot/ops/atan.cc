#include "aot/ops/support/complex/complex_arcs.h"

namespace ingot::atan_op {
namespace {

double value(double x) { return std::atan(x); }

Complex value(Complex z) { return std::atan(z); }

constexpr auto parts = [](ComplexTerm z) { return atan(z); };

// dx = dy / (1 + x²)
constexpr auto dx = [](Term x, Term, Term dy) { return dy / (1 + square(x)); };

std::vector<Sample> samples() { return unary_samples("chlo.atan", kFloats | kComplex, {-100, 100}, Range{-3, 3}); }

}  // namespace

extern const OpDef kAtan = chlo_unary<(kFloats | kComplex)>({
    .name = "chlo.atan",
    .doc = "y = the angle in [-pi/2, pi/2] whose tangent is x.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kAtan>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::atan_op
