#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return std::sqrt(x); }

// dx = dy / (2 y)
constexpr auto dx = [](Term, Term y, Term dy) { return dy * 0.5 / y; };

std::vector<Sample> samples() { return unary_samples("stablehlo.sqrt", kFloats, {-1, 1000}, Range{0.5, 3}); }

}  // namespace

extern const OpDef kSqrt = unary<kFloats>({
    .name = "stablehlo.sqrt",
    .doc = "y = the square root of x; NaN for negative x.",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kSqrt>,
    .flops = 4,
});

}  // namespace ingot
