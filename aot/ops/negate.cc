#include "aot/ops/support/complex/complex_term.h"

namespace ingot::negate_op {
namespace {

double value(double x) { return -x; }
int64_t value(int64_t x, DType) { return static_cast<int64_t>(-static_cast<uint64_t>(x)); }

Complex value(Complex z) { return -z; }

// dx = -dy
constexpr auto dx = [](Term, Term, Term dy) { return -dy; };

std::vector<Sample> samples() {
  return unary_samples("stablehlo.negate", kNumbers | kComplex, {-100, 100}, Range{-3, 3});
}

}  // namespace

extern const OpDef kNegate = unary<(kNumbers | kComplex)>({
    .name = "stablehlo.negate",
    .doc = "y = -x; integers wrap.",
    .evaluate = evaluate_unary<value, value, value>,
    .gradient = unary_gradient<dx>,
    .split = ops::split_each,
    .samples = samples,
    .element = element_of<ScalarOp::kNegate>,
});

}  // namespace ingot::negate_op
