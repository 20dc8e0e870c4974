#include "aot/ops/support/complex/complex_term.h"

namespace ingot::cosh_op {
namespace {

double value(double x) { return std::cosh(x); }

Complex value(Complex z) { return std::cosh(z); }

constexpr auto parts = [](ComplexTerm z) { return cosh(z); };

// dx = dy sinh(x)
constexpr auto dx = [](Term x, Term, Term dy) { return dy * x.unary(kSinh); };

std::vector<Sample> samples() { return unary_samples("chlo.cosh", kFloats | kComplex, {-100, 100}, Range{-3, 3}); }

}  // namespace

extern const OpDef kCosh = chlo_unary<(kFloats | kComplex)>({
    .name = "chlo.cosh",
    .doc = "y = (e^x + e^-x) / 2.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kCosh>,
    .ulp = {.f32 = 9, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::cosh_op
