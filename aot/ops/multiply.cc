#include "aot/ops/support/complex/complex_term.h"

namespace ingot::multiply_op {
namespace {

double value(double x, double y) { return x * y; }
int64_t value(int64_t x, int64_t y, DType) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
}

Complex value(Complex z, Complex w) { return z * w; }

constexpr auto parts = [](ComplexTerm z, ComplexTerm w) { return z * w; };

// dx = dz y
constexpr auto dx = [](Term, Term y, Term, Term dz) { return dz * y; };
// dy = dz x
constexpr auto dy = [](Term x, Term, Term, Term dz) { return dz * x; };

std::vector<Sample> samples() { return binary_samples("stablehlo.multiply", kAnyDType, {-100, 100}, Range{-3, 3}); }

}  // namespace

extern const OpDef kMultiply = binary<kAnyDType>({
    .name = "stablehlo.multiply",
    .doc = "z = x y; integers wrap, i1 is and.",
    .evaluate = evaluate_binary<value, value, value>,
    .gradient = binary_gradient<dx, dy>,
    .split = ops::split_arithmetic<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kMultiply>,
    .is_commutative = true,
});

}  // namespace ingot::multiply_op
