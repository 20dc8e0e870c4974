#include "aot/ops/support/elementwise.h"

namespace ingot::floor_op {
namespace {

double value(double x) { return std::floor(x); }

std::vector<Sample> samples() { return unary_samples("stablehlo.floor", kFloats); }

}  // namespace

extern const OpDef kFloor = unary<kFloats>({
    .name = "stablehlo.floor",
    .doc = "y = the greatest integer at or below x.",
    .evaluate = evaluate_unary<value>,
    .zero_gradient = true,
    .samples = samples,
    .element = element_of<ScalarOp::kFloor>,
});

}  // namespace ingot::floor_op
