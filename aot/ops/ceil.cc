#include "aot/ops/support/elementwise.h"

namespace ingot::ceil_op {
namespace {

double value(double x) { return std::ceil(x); }

std::vector<Sample> samples() { return unary_samples("stablehlo.ceil", kFloats); }

}  // namespace

extern const OpDef kCeil = unary<kFloats>({
    .name = "stablehlo.ceil",
    .doc = "y = the least integer at or above x.",
    .evaluate = evaluate_unary<value>,
    .zero_gradient = true,
    .samples = samples,
    .element = element_of<ScalarOp::kCeil>,
});

}  // namespace ingot::ceil_op
