#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) {
  const double e = std::exp(-std::abs(x));  // at most 1: no overflow, no loss in the lower tail
  return (x < 0 ? e : 1) / (1 + e);
}

// dx = dy y (1 - y)
constexpr auto dx = [](Term, Term y, Term dy) { return dy * y * (1 - y); };

std::vector<Sample> samples() { return unary_samples("stablehlo.logistic", kFloats, {-100, 100}, Range{-3, 3}); }

}  // namespace

extern const OpDef kLogistic = unary<kFloats>({
    .name = "stablehlo.logistic",
    .doc = "y = 1 / (1 + e^-x), the sigmoid.",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kLogistic>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot
