#include "aot/ops/support/elementwise.h"

namespace ingot::shift_right_arithmetic_op {
namespace {

int64_t value(int64_t x, int64_t y, DType dtype) {
  const int bits = info(dtype).bits;
  const int64_t signed_x = static_cast<int64_t>(static_cast<uint64_t>(x) << (64 - bits)) >> (64 - bits);
  return signed_x >> (less(y, bits, DType::kUI64) ? y : bits - 1);
}

std::vector<Sample> samples() { return shift_samples("stablehlo.shift_right_arithmetic"); }

}  // namespace

extern const OpDef kShiftRightArithmetic = binary<kIntegers>({
    .name = "stablehlo.shift_right_arithmetic",
    .doc = "z = x shifted right by y bits, copies of the sign bit moving in; only those when y is negative or at least "
           "the width.",
    .evaluate = evaluate_binary<nullptr, value>,
    .zero_gradient = true,
    .samples = samples,
    .element = element_of<ScalarOp::kShiftRightArithmetic>,
});

}  // namespace ingot::shift_right_arithmetic_op
