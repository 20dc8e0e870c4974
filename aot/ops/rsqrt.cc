#include "aot/ops/support/complex/complex_term.h"

namespace ingot::rsqrt_op {
namespace {

double value(double x) { return 1 / std::sqrt(x); }

Complex value(Complex z) { return 1.0 / std::sqrt(z); }

// 1 / w = conj(w) / |w|² for w = sqrt(z).
constexpr auto parts = [](ComplexTerm z) {
  const ComplexTerm root = sqrt(z);
  const Term size = hypot(z.re, z.im);
  return ComplexTerm{root.re, -root.im} / size;
};

// dx = -dy y³ / 2
constexpr auto dx = [](Term, Term y, Term dy) { return dy * y * square(y) * -0.5; };

std::vector<Sample> samples() {
  return unary_samples("stablehlo.rsqrt", kFloats | kComplex, {-1, 1000}, Range{0.5, 3});
}

}  // namespace

extern const OpDef kRsqrt = unary<(kFloats | kComplex)>({
    .name = "stablehlo.rsqrt",
    .doc = "y = 1 / sqrt(x).",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kRsqrt>,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = 4,
});

}  // namespace ingot::rsqrt_op
