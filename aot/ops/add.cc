#include "aot/ops/support/complex/complex_term.h"

namespace ingot::add_op {
namespace {

double value(double x, double y) { return x + y; }
int64_t value(int64_t x, int64_t y, DType) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
}

Complex value(Complex z, Complex w) { return z + w; }

// dx = dz
constexpr auto dx = [](Term, Term, Term, Term dz) { return dz; };
// dy = dz
constexpr auto dy = [](Term, Term, Term, Term dz) { return dz; };

std::vector<Sample> samples() { return binary_samples("stablehlo.add", kAnyDType, {-100, 100}, Range{-3, 3}); }

}  // namespace

extern const OpDef kAdd = binary<kAnyDType>({
    .name = "stablehlo.add",
    .doc = "z = x + y; integers wrap, i1 is or.",
    .evaluate = evaluate_binary<value, value, value>,
    .gradient = binary_gradient<dx, dy>,
    .split = ops::split_each,
    .samples = samples,
    .element = element_of<ScalarOp::kAdd>,
    .is_commutative = true,
});

}  // namespace ingot::add_op
