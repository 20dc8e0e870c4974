#include "aot/ops/support/complex/complex_term.h"

namespace ingot::sign_op {
namespace {

double value(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
int64_t value(int64_t x, DType) { return (x > 0) - (x < 0); }

Complex value(Complex z) { return z == 0.0 ? z : z / std::abs(z); }

constexpr auto parts = [](ComplexTerm z) {
  const Term scale = unit_scale(z.re, z.im);
  const ComplexTerm w = z * scale;
  const Term size = sqrt(square(w.re) + square(w.im));
  return where(equal(size, size.like(0)), z, w / size);
};

loops::Expr element(loops::ElementArgs& args) {
  const Scalar x(args.b, args.operand(0));
  return where(x > 0, 1, where(x < 0, -1, x));
}

std::vector<Sample> samples() { return unary_samples("stablehlo.sign", kFloats | kSignedIntegers | kComplex); }

}  // namespace

extern const OpDef kSign = unary<(kFloats | kSignedIntegers | kComplex)>({
    .name = "stablehlo.sign",
    .doc = "y = -1, 0 or 1 as x is negative, zero or positive; zeros keep their sign, NaN stays. Complex: x / |x|.",
    .evaluate = evaluate_unary<value, value, value>,
    .zero_gradient = true,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element,
});

}  // namespace ingot::sign_op
