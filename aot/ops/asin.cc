#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return std::asin(x); }

// dx = dy / √(1 - x²)
constexpr auto dx = [](Term x, Term, Term dy) { return dy * ((1 - x) * (1 + x)).unary("rsqrt"); };

std::vector<Sample> samples() { return unary_samples("chlo.asin", kFloats, {-1, 1}, Range{-0.9, 0.9}); }

}  // namespace

extern const OpDef kAsin = chlo_unary<kFloats>({
    .name = "chlo.asin",
    .doc = "y = the angle in [-pi/2, pi/2] whose sine is x; NaN where |x| > 1.",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kAsin>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot
