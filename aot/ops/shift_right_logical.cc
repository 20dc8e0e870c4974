#include "aot/ops/support/elementwise.h"

namespace ingot::shift_right_logical_op {
namespace {

int64_t value(int64_t x, int64_t y, DType dtype) {
  const int bits = info(dtype).bits;
  const uint64_t unsigned_x = static_cast<uint64_t>(x) << (64 - bits) >> (64 - bits);
  return less(y, bits, DType::kUI64) ? static_cast<int64_t>(unsigned_x >> y) : 0;
}

std::vector<Sample> samples() { return shift_samples("stablehlo.shift_right_logical"); }

}  // namespace

extern const OpDef kShiftRightLogical = binary<kIntegers>({
    .name = "stablehlo.shift_right_logical",
    .doc = "z = x shifted right by y bits, zeros moving in; 0 when y is negative or at least the width.",
    .evaluate = evaluate_binary<nullptr, value>,
    .zero_gradient = true,
    .samples = samples,
    .element = element_of<ScalarOp::kShiftRightLogical>,
});

}  // namespace ingot::shift_right_logical_op
