#include <bit>

#include "aot/ops/support/elementwise.h"

namespace ingot::count_leading_zeros_op {
namespace {

int64_t value(int64_t x, DType dtype) {
  const int bits = info(dtype).bits;
  return std::min(bits, std::countl_zero(static_cast<uint64_t>(x) << (64 - bits)));
}

std::vector<Sample> samples() { return unary_samples("stablehlo.count_leading_zeros", kIntegers); }

}  // namespace

extern const OpDef kCountLeadingZeros = unary<kIntegers>({
    .name = "stablehlo.count_leading_zeros",
    .doc = "The number of zero bits above the highest bit that is set; the width for 0.",
    .evaluate = evaluate_unary<nullptr, value>,
    .zero_gradient = true,
    .samples = samples,
    .element = element_of<ScalarOp::kCountLeadingZeros>,
});

}  // namespace ingot::count_leading_zeros_op
