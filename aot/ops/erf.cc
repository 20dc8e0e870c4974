#include "aot/ops/support/elementwise.h"

namespace ingot::erf_op {
namespace {

double value(double x) { return std::erf(x); }

// dx = dy 2/sqrt(pi) e^(-x²)
constexpr auto dx = [](Term x, Term, Term dy) { return dy * M_2_SQRTPI * exp(-square(x)); };

std::vector<Sample> samples() { return unary_samples("chlo.erf", kFloats, {-6, 6}, Range{-3, 3}); }

}  // namespace

extern const OpDef kErf = chlo_unary<kFloats>({
    .name = "chlo.erf",
    .doc = "y = 2/sqrt(pi) times the integral of e^(-t²) from 0 to x.",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kErf>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::erf_op
