#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return std::sin(x); }

// dx = dy cos(x)
constexpr auto dx = [](Term x, Term, Term dy) { return dy * cos(x); };

std::vector<Sample> samples() { return unary_samples("stablehlo.sine", kFloats, {-1000, 1000}, Range{-3, 3}); }

}  // namespace

extern const OpDef kSine = unary<kFloats>({
    .name = "stablehlo.sine",
    .doc = "y = sin(x), x in radians.",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kSin>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot
