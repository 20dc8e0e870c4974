#include "aot/ops/support/complex/complex_term.h"

namespace ingot::cosine_op {
namespace {

double value(double x) { return std::cos(x); }

Complex value(Complex z) { return std::cos(z); }

constexpr auto parts = [](ComplexTerm z) { return cosh(times_i(z)); };

// dx = -dy sin(x)
constexpr auto dx = [](Term x, Term, Term dy) { return -(dy * sin(x)); };

std::vector<Sample> samples() {
  return unary_samples("stablehlo.cosine", kFloats | kComplex, {-1000, 1000}, Range{-3, 3});
}

}  // namespace

extern const OpDef kCosine = unary<(kFloats | kComplex)>({
    .name = "stablehlo.cosine",
    .doc = "y = cos(x), x in radians.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kCos>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::cosine_op
