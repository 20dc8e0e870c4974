#include "aot/base/special_functions.h"
#include "aot/ops/support/elementwise.h"

namespace ingot::digamma_op {
namespace {

// dx = dy polygamma(1, x)
constexpr auto dx = [](Term x, Term, Term dy) { return dy * x.like(1).binary(kPolygamma, x); };

std::vector<Sample> samples() { return unary_samples("chlo.digamma", kFloats, {0, 30}, Range{0.5, 5}); }

}  // namespace

extern const OpDef kDigamma = chlo_unary<kFloats>({
    .name = "chlo.digamma",
    .doc = "The derivative of ln gamma; NaN at 0, -1, -2, ...",
    .evaluate = evaluate_unary<digamma>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kDigamma>,
    .ulp = {.f32 = 1, .f64 = 5},
    .flops = 3 * kMathFlops,
});

}  // namespace ingot::digamma_op
