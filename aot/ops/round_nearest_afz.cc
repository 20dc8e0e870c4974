#include "aot/ops/support/elementwise.h"

namespace ingot::round_nearest_afz_op {
namespace {

double value(double x) { return std::round(x); }

// With t = floor(|x|): |y| = t + 1 where |x| - t >= 1/2 (the difference is exact), else t. The sign of x is kept, for
// zeros too.
loops::Expr element(loops::ElementArgs& args) {
  const Scalar x(args.b, args.operand(0));
  const Scalar whole = floor(abs(x));
  return copy_sign(where(abs(x) - whole >= 0.5, whole + 1, whole), x);
}

std::vector<Sample> samples() { return unary_samples("stablehlo.round_nearest_afz", kFloats); }

}  // namespace

extern const OpDef kRoundNearestAfz = unary<kFloats>({
    .name = "stablehlo.round_nearest_afz",
    .doc = "y = the integer nearest to x, the one away from zero of two equally near.",
    .evaluate = evaluate_unary<value>,
    .zero_gradient = true,
    .samples = samples,
    .element = element,
});

}  // namespace ingot::round_nearest_afz_op
