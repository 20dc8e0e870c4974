#include "aot/ops/support/elementwise.h"

namespace ingot::round_nearest_even_op {
namespace {

double value(double x) { return std::nearbyint(x); }

std::vector<Sample> samples() { return unary_samples("stablehlo.round_nearest_even", kFloats); }

}  // namespace

extern const OpDef kRoundNearestEven = unary<kFloats>({
    .name = "stablehlo.round_nearest_even",
    .doc = "y = the integer nearest to x, the even one of two equally near.",
    .evaluate = evaluate_unary<value>,
    .zero_gradient = true,
    .samples = samples,
    .element = element_of<ScalarOp::kRoundEven>,
});

}  // namespace ingot::round_nearest_even_op
