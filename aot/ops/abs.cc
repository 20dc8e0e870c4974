#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return std::abs(x); }
int64_t value(int64_t x, DType) { return x < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(x)) : x; }

// dx = dy sign(x)
constexpr auto dx = [](Term x, Term, Term dy) { return dy * sign(x); };

std::vector<Sample> samples() {
  return unary_samples("stablehlo.abs", kFloats | kSignedIntegers, {-100, 100}, Range{-3, 3});
}

}  // namespace

extern const OpDef kAbs = unary < kFloats | kSignedIntegers > ({
                                                                  .name = "stablehlo.abs",
                                                                  .doc = "y = |x|.",
                                                                  .evaluate = evaluate_unary<value, value>,
                                                                  .gradient = unary_gradient<dx>,
                                                                  .samples = samples,
                                                                  .element = element_of<ScalarOp::kAbs>,
                                                              });

}  // namespace ingot
