#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

double value(double x) { return -x; }
int64_t value(int64_t x, DType) { return static_cast<int64_t>(-static_cast<uint64_t>(x)); }

// dx = -dy
constexpr auto dx = [](Term, Term, Term dy) { return -dy; };

std::vector<Sample> samples() { return unary_samples("stablehlo.negate", kNumbers, {-100, 100}, Range{-3, 3}); }

}  // namespace

extern const OpDef kNegate = unary<kNumbers>({
    .name = "stablehlo.negate",
    .doc = "y = -x; integers wrap.",
    .evaluate = evaluate_unary<value, value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kNegate>,
});

}  // namespace ingot
