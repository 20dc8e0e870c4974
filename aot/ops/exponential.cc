#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return std::exp(x); }

// dx = dy y
constexpr auto dx = [](Term, Term y, Term dy) { return dy * y; };

std::vector<Sample> samples() { return unary_samples("stablehlo.exponential", kFloats, {-100, 100}, Range{-3, 3}); }

}  // namespace

extern const OpDef kExponential = unary<kFloats>({
    .name = "stablehlo.exponential",
    .doc = "y = e^x.",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kExp>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot
