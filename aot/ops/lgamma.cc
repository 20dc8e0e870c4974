#include "aot/base/special_functions.h"
#include "aot/ops/support/elementwise.h"

namespace ingot::lgamma_op {
namespace {

// dx = dy digamma(x)
constexpr auto dx = [](Term x, Term, Term dy) { return dy * x.unary(kDigamma); };

std::vector<Sample> samples() { return unary_samples("chlo.lgamma", kFloats, {0, 30}, Range{0.5, 5}); }

}  // namespace

extern const OpDef kLgamma = chlo_unary<kFloats>({
    .name = "chlo.lgamma",
    .doc = "y = ln |gamma(x)|; infinite at 0, -1, -2, ...",
    .evaluate = evaluate_unary<ingot::lgamma>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kLgamma>,
    .ulp = {.f32 = 1, .f64 = 6},
    .flops = 3 * kMathFlops,
});

}  // namespace ingot::lgamma_op
