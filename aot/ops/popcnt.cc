#include <bit>

#include "aot/ops/support/elementwise.h"

namespace ingot::popcnt_op {
namespace {

int64_t value(int64_t x, DType dtype) { return std::popcount(static_cast<uint64_t>(x) << (64 - info(dtype).bits)); }

std::vector<Sample> samples() { return unary_samples("stablehlo.popcnt", kIntegers); }

}  // namespace

extern const OpDef kPopcnt = unary<kIntegers>({
    .name = "stablehlo.popcnt",
    .doc = "The number of bits that are set.",
    .evaluate = evaluate_unary<nullptr, value>,
    .zero_gradient = true,
    .samples = samples,
    .element = element_of<ScalarOp::kPopcnt>,
});

}  // namespace ingot::popcnt_op
