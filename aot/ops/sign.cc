#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
int64_t value(int64_t x, DType) { return (x > 0) - (x < 0); }

loops::Expr element(loops::ElementArgs& args) {
  const Scalar x(args.b, args.operand(0));
  return where(x > 0, 1, where(x < 0, -1, x));
}

std::vector<Sample> samples() { return unary_samples("stablehlo.sign", kFloats | kSignedIntegers); }

}  // namespace

extern const OpDef kSign =
    unary < kFloats |
    kSignedIntegers > ({
                          .name = "stablehlo.sign",
                          .doc = "y = -1, 0 or 1 as x is negative, zero or positive; zeros keep their sign, NaN stays.",
                          .evaluate = evaluate_unary<value, value>,
                          .zero_gradient = true,
                          .samples = samples,
                          .element = element,
                      });

}  // namespace ingot
