#include "aot/ops/support/elementwise.h"

namespace ingot::shift_left_op {
namespace {

int64_t value(int64_t x, int64_t y, DType dtype) {
  return less(y, info(dtype).bits, DType::kUI64) ? static_cast<int64_t>(static_cast<uint64_t>(x) << y) : 0;
}

std::vector<Sample> samples() { return shift_samples("stablehlo.shift_left"); }

}  // namespace

extern const OpDef kShiftLeft = binary<kIntegers>({
    .name = "stablehlo.shift_left",
    .doc = "z = x shifted left by y bits; 0 when y is negative or at least the width.",
    .evaluate = evaluate_binary<nullptr, value>,
    .zero_gradient = true,
    .samples = samples,
    .element = element_of<ScalarOp::kShiftLeft>,
});

}  // namespace ingot::shift_left_op
