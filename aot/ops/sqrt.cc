#include "aot/ops/support/complex/complex_term.h"

namespace ingot::sqrt_op {
namespace {

double value(double x) { return std::sqrt(x); }

Complex value(Complex z) { return std::sqrt(z); }

constexpr auto parts = [](ComplexTerm z) { return sqrt(z); };

// dx = dy / (2 y)
constexpr auto dx = [](Term, Term y, Term dy) { return dy * 0.5 / y; };

std::vector<Sample> samples() { return unary_samples("stablehlo.sqrt", kFloats | kComplex, {-1, 1000}, Range{0.5, 3}); }

}  // namespace

extern const OpDef kSqrt = unary<(kFloats | kComplex)>({
    .name = "stablehlo.sqrt",
    .doc = "y = the square root of x; NaN for negative x.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kSqrt>,
    .flops = 4,
});

}  // namespace ingot::sqrt_op
