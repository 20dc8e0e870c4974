#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return std::asinh(x); }

// dx = dy / √(x² + 1)
constexpr auto dx = [](Term x, Term, Term dy) { return dy * (square(x) + 1).unary("rsqrt"); };

std::vector<Sample> samples() { return unary_samples("chlo.asinh", kFloats, {-100, 100}, Range{-3, 3}); }

}  // namespace

extern const OpDef kAsinh = chlo_unary<kFloats>({
    .name = "chlo.asinh",
    .doc = "y = the number whose hyperbolic sine is x.",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kAsinh>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot
