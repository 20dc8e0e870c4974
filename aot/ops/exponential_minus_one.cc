#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return std::expm1(x); }

// dx = dy (y + 1)
constexpr auto dx = [](Term, Term y, Term dy) { return dy * (y + 1); };

std::vector<Sample> samples() {
  return unary_samples("stablehlo.exponential_minus_one", kFloats, {-100, 100}, Range{-3, 3});
}

}  // namespace

extern const OpDef kExponentialMinusOne = unary<kFloats>({
    .name = "stablehlo.exponential_minus_one",
    .doc = "y = e^x - 1, accurate near 0.",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kExpm1>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot
