#include "aot/ops/support/complex/complex_term.h"

namespace ingot::sinh_op {
namespace {

double value(double x) { return std::sinh(x); }

Complex value(Complex z) { return std::sinh(z); }

constexpr auto parts = [](ComplexTerm z) { return sinh(z); };

// dx = dy cosh(x)
constexpr auto dx = [](Term x, Term, Term dy) { return dy * x.unary(kCosh); };

std::vector<Sample> samples() { return unary_samples("chlo.sinh", kFloats | kComplex, {-100, 100}, Range{-3, 3}); }

}  // namespace

extern const OpDef kSinh = chlo_unary<(kFloats | kComplex)>({
    .name = "chlo.sinh",
    .doc = "y = (e^x - e^-x) / 2.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kSinh>,
    .ulp = {.f32 = 9, .f64 = 2},
    .flops = kMathFlops,
});

}  // namespace ingot::sinh_op
