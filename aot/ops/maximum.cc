#include "aot/ops/support/complex/complex_term.h"

namespace ingot::maximum_op {
namespace {

int64_t value(int64_t x, int64_t y, DType dtype) { return less(x, y, dtype) ? y : x; }

// By the real parts; where they are equal by the imaginary ones.
Complex value(Complex z, Complex w) {
  return z.real() > w.real() || (z.real() == w.real() && z.imag() > w.imag()) ? z : w;
}

constexpr auto parts = [](ComplexTerm z, ComplexTerm w) {
  const Term is_first = (z.re > w.re).binary(kOr, both(equal(z.re, w.re), z.im > w.im));
  return where(is_first, z, w);
};

// dx = dz where x > y, dz / 2 where x = y
constexpr auto dx = [](Term x, Term y, Term, Term dz) { return where(x > y, dz, where(equal(x, y), dz * 0.5, 0)); };
// dy likewise
constexpr auto dy = [](Term x, Term y, Term z, Term dz) { return dx(y, x, z, dz); };

std::vector<Sample> samples() { return binary_samples("stablehlo.maximum", kAnyDType, {-100, 100}, Range{-3, 3}); }

}  // namespace

extern const OpDef kMaximum = binary<kAnyDType>({
    .name = "stablehlo.maximum",
    .doc = "z = the larger of x and y; NaN where either is NaN.",
    .evaluate = evaluate_binary<maximum, value, value>,
    .gradient = binary_gradient<dx, dy>,
    .split = ops::split_arithmetic<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kMaximum>,
    .is_commutative = true,
});

}  // namespace ingot::maximum_op
