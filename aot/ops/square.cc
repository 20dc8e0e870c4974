#include "aot/ops/complex_term.h"

namespace ingot {
namespace {

double value(double x) { return x * x; }

Complex value(Complex z) { return z * z; }

constexpr auto parts = [](ComplexTerm z) { return ComplexTerm{(z.re - z.im) * (z.re + z.im), 2.0 * z.re * z.im}; };

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

}  // namespace ingot
