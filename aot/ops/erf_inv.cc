#include "aot/base/special_functions.h"
#include "aot/ops/support/elementwise.h"

namespace ingot::erf_inv_op {
namespace {

// dx = dy sqrt(pi)/2 e^(y²)
constexpr auto dx = [](Term, Term y, Term dy) { return dy / M_2_SQRTPI * exp(square(y)); };

std::vector<Sample> samples() { return unary_samples("chlo.erf_inv", kFloats, {-1.1, 1.1}, Range{-0.9, 0.9}); }

}  // namespace

extern const OpDef kErfInv = chlo_unary<kFloats>({
    .name = "chlo.erf_inv",
    .doc = "The y for which erf(y) = x; infinite at -1 and 1, NaN beyond.",
    .evaluate = evaluate_unary<erf_inv>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kErfInv>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = 2 * kMathFlops,
});

}  // namespace ingot::erf_inv_op
