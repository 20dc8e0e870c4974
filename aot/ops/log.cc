#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return std::log(x); }

// dx = dy / x
constexpr auto dx = [](Term x, Term, Term dy) { return dy / x; };

std::vector<Sample> samples() { return unary_samples("stablehlo.log", kFloats, {-1, 1000}, Range{0.5, 3}); }

}  // namespace

extern const OpDef kLog = unary<kFloats>({
    .name = "stablehlo.log",
    .doc = "y = ln(x); NaN for negative x.",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kLog>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot
