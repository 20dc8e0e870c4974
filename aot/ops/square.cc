#include "aot/ops/support/complex/complex_term.h"

namespace ingot::square_op {
namespace {

double value(double x) { return x * x; }

Complex value(Complex z) { return z * z; }

// x² - y² as a product, which is 0 for finite x = y, however large.
constexpr auto parts = [](ComplexTerm z) {
  const Term product = (z.re - z.im) * (z.re + z.im);
  const Term is_zero = both(equal(abs(z.re), abs(z.im)), abs(z.re) < z.re.like(INFINITY));
  const Term mixed = z.re * z.im;
  return ComplexTerm{where(is_zero, 0, product), mixed + mixed};
};

// dx = 2 x dy
constexpr auto dx = [](Term x, Term, Term dy) { return dy * (2 * x); };

loops::Expr element(loops::ElementArgs& args) {
  const Scalar x(args.b, args.operand(0));
  return loops::rounded(args, x * x);
}

std::vector<Sample> samples() { return unary_samples("chlo.square", kFloats | kComplex, {-100, 100}, Range{-3, 3}); }

}  // namespace

extern const OpDef kSquare = chlo_unary<(kFloats | kComplex)>({
    .name = "chlo.square",
    .doc = "y = x².",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_arithmetic<parts>,
    .samples = samples,
    .element = element,
});

}  // namespace ingot::square_op
