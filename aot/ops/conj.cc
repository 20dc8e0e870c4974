#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return x; }

// dx = dy
constexpr auto dx = [](Term, Term, Term dy) { return dy; };

std::vector<Sample> samples() { return unary_samples("chlo.conj", kFloats, {-100, 100}, Range{-3, 3}); }

}  // namespace

extern const OpDef kConj = chlo_unary<kFloats>({
    .name = "chlo.conj",
    .doc = "The complex conjugate of x, which is x where x is real.",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = [](loops::ElementArgs& args) { return args.operand(0); },
});

}  // namespace ingot
