#include "aot/ops/support/complex/complex_term.h"

namespace ingot::conj_op {
namespace {

double value(double x) { return x; }

Complex value(Complex z) { return std::conj(z); }

constexpr auto parts = [](ComplexTerm z) { return ComplexTerm{z.re, -z.im}; };

// dx = dy
constexpr auto dx = [](Term, Term, Term dy) { return dy; };

std::vector<Sample> samples() { return unary_samples("chlo.conj", kFloats | kComplex, {-100, 100}, Range{-3, 3}); }

}  // namespace

extern const OpDef kConj = chlo_unary<(kFloats | kComplex)>({
    .name = "chlo.conj",
    .doc = "The complex conjugate of x, which is x where x is real.",
    .evaluate = evaluate_unary<value, nullptr, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_arithmetic<parts>,
    .samples = samples,
    .element = [](loops::ElementArgs& args) { return args.operand(0); },
});

}  // namespace ingot::conj_op
