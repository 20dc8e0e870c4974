#include "aot/ops/support/elementwise.h"

namespace ingot::and_op {
namespace {

int64_t value(int64_t x, int64_t y, DType) { return x & y; }

std::vector<Sample> samples() { return binary_samples("stablehlo.and", kIntegers | kBooleans); }

}  // namespace

extern const OpDef kAnd = binary < kIntegers | kBooleans > ({
                                                               .name = "stablehlo.and",
                                                               .doc = "Logical for i1, bitwise for integers.",
                                                               .evaluate = evaluate_binary<nullptr, value>,
                                                               .zero_gradient = true,
                                                               .samples = samples,
                                                               .element = element_of<ScalarOp::kAnd>,
                                                               .is_commutative = true,
                                                           });

}  // namespace ingot::and_op
