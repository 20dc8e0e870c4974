#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

int64_t value(int64_t x, int64_t y, DType dtype) { return less(x, y, dtype) ? x : y; }

// dx = dz where x < y, dz / 2 where x = y
constexpr auto dx = [](Term x, Term y, Term, Term dz) { return where(x < y, dz, where(equal(x, y), dz * 0.5, 0)); };
// dy likewise
constexpr auto dy = [](Term x, Term y, Term z, Term dz) { return dx(y, x, z, dz); };

std::vector<Sample> samples() { return binary_samples("stablehlo.minimum", kAnyDType, {-100, 100}, Range{-3, 3}); }

}  // namespace

extern const OpDef kMinimum = binary<kAnyDType>({
    .name = "stablehlo.minimum",
    .doc = "z = the smaller of x and y; NaN where either is NaN.",
    .evaluate = evaluate_binary<minimum, value>,
    .gradient = binary_gradient<dx, dy>,
    .samples = samples,
    .element = element_of<ScalarOp::kMinimum>,
    .is_commutative = true,
});

}  // namespace ingot
