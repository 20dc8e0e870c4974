#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return std::tanh(x); }

// dx = dy (1 - y²)
constexpr auto dx = [](Term, Term y, Term dy) { return dy * (1 - square(y)); };

std::vector<Sample> samples() { return unary_samples("stablehlo.tanh", kFloats, {-20, 20}, Range{-3, 3}); }

}  // namespace

extern const OpDef kTanh = unary<kFloats>({
    .name = "stablehlo.tanh",
    .doc = "y = tanh(x).",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kTanh>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot
