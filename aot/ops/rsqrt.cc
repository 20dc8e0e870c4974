#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return 1 / std::sqrt(x); }

// dx = -dy y³ / 2
constexpr auto dx = [](Term, Term y, Term dy) { return dy * y * square(y) * -0.5; };

std::vector<Sample> samples() { return unary_samples("stablehlo.rsqrt", kFloats, {-1, 1000}, Range{0.5, 3}); }

}  // namespace

extern const OpDef kRsqrt = unary<kFloats>({
    .name = "stablehlo.rsqrt",
    .doc = "y = 1 / sqrt(x).",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kRsqrt>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = 4,
});

}  // namespace ingot
