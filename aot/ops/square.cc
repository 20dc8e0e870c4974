#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return x * x; }

// dx = 2 x dy
constexpr auto dx = [](Term x, Term, Term dy) { return dy * (2 * x); };

loops::Expr element(loops::ElementArgs& args) {
  const Scalar x(args.b, args.operand(0));
  return loops::rounded(args, x * x);
}

std::vector<Sample> samples() { return unary_samples("chlo.square", kFloats, {-100, 100}, Range{-3, 3}); }

}  // namespace

extern const OpDef kSquare = chlo_unary<kFloats>({
    .name = "chlo.square",
    .doc = "y = x².",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element,
});

}  // namespace ingot
