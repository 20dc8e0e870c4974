#include "aot/ops/support/elementwise.h"

namespace ingot::not_op {
namespace {

int64_t value(int64_t x, DType dtype) { return is_bool(dtype) ? !x : ~x; }

std::vector<Sample> samples() { return unary_samples("stablehlo.not", kIntegers | kBooleans); }

}  // namespace

extern const OpDef kNot = unary < kIntegers | kBooleans > ({
                                                              .name = "stablehlo.not",
                                                              .doc = "Logical for i1, bitwise for integers.",
                                                              .evaluate = evaluate_unary<nullptr, value>,
                                                              .zero_gradient = true,
                                                              .samples = samples,
                                                              .element = element_of<ScalarOp::kNot>,
                                                          });

}  // namespace ingot::not_op
