#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return std::cbrt(x); }

// dx = dy / (3 y²)
constexpr auto dx = [](Term, Term y, Term dy) { return dy / (3 * square(y)); };

std::vector<Sample> samples() { return unary_samples("stablehlo.cbrt", kFloats, {-100, 100}, Range{0.5, 3}); }

}  // namespace

extern const OpDef kCbrt = unary<kFloats>({
    .name = "stablehlo.cbrt",
    .doc = "y = x^(1/3), also for negative x.",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kCbrt>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot
