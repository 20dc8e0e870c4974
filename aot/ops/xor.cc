#include "aot/ops/support/elementwise.h"

namespace ingot::xor_op {
namespace {

int64_t value(int64_t x, int64_t y, DType) { return x ^ y; }

std::vector<Sample> samples() { return binary_samples("stablehlo.xor", kIntegers | kBooleans); }

}  // namespace

extern const OpDef kXor = binary < kIntegers | kBooleans > ({
                                                               .name = "stablehlo.xor",
                                                               .doc = "Logical for i1, bitwise for integers.",
                                                               .evaluate = evaluate_binary<nullptr, value>,
                                                               .zero_gradient = true,
                                                               .samples = samples,
                                                               .element = element_of<ScalarOp::kXor>,
                                                               .is_commutative = true,
                                                           });

}  // namespace ingot::xor_op
