#include "aot/ops/support/elementwise.h"

namespace ingot::erfc_op {
namespace {

double value(double x) { return std::erfc(x); }

// dx = -dy 2/sqrt(pi) e^(-x²)
constexpr auto dx = [](Term x, Term, Term dy) { return dy * -M_2_SQRTPI * exp(-square(x)); };

std::vector<Sample> samples() { return unary_samples("chlo.erfc", kFloats, {-6, 30}, Range{-3, 3}); }

}  // namespace

extern const OpDef kErfc = chlo_unary<kFloats>({
    .name = "chlo.erfc",
    .doc = "y = 1 - erf(x), accurate for large x.",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kErfc>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::erfc_op
