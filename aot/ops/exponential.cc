#include "aot/ops/support/complex/complex_term.h"

namespace ingot::exponential_op {
namespace {

double value(double x) { return std::exp(x); }

Complex value(Complex z) { return std::exp(z); }

constexpr auto parts = [](ComplexTerm z) { return exp(z); };

// dx = dy y
constexpr auto dx = [](Term, Term y, Term dy) { return dy * y; };

std::vector<Sample> samples() {
  return unary_samples("stablehlo.exponential", kFloats | kComplex, {-100, 100}, Range{-3, 3});
}

}  // namespace

extern const OpDef kExponential = unary<(kFloats | kComplex)>({
    .name = "stablehlo.exponential",
    .doc = "y = e^x.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kExp>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::exponential_op
