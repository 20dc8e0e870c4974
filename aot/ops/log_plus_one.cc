#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return std::log1p(x); }

// dx = dy / (x + 1)
constexpr auto dx = [](Term x, Term, Term dy) { return dy / (x + 1); };

std::vector<Sample> samples() { return unary_samples("stablehlo.log_plus_one", kFloats, {-2, 100}, Range{-0.5, 3}); }

}  // namespace

extern const OpDef kLogPlusOne = unary<kFloats>({
    .name = "stablehlo.log_plus_one",
    .doc = "y = ln(1 + x), accurate near 0.",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kLog1p>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot
