#include "aot/ops/support/complex/complex_term.h"

namespace ingot::divide_op {
namespace {

double value(double x, double y) { return x / y; }

int64_t value(int64_t x, int64_t y, DType dtype) {
  if (y == 0) return -1;
  if (!is_signed(dtype)) return static_cast<int64_t>(static_cast<uint64_t>(x) / static_cast<uint64_t>(y));
  return y == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(x)) : x / y;
}

Complex value(Complex z, Complex w) { return z / w; }

constexpr auto parts = [](ComplexTerm z, ComplexTerm w) { return z / w; };

// dx = dz / y
constexpr auto dx = [](Term, Term y, Term, Term dz) { return dz / y; };
// dy = -dz z / y
constexpr auto dy = [](Term, Term y, Term z, Term dz) { return -(dz * z / y); };

std::vector<Sample> samples() {
  return binary_samples("stablehlo.divide", kNumbers | kComplex, {-100, 100}, Range{0.5, 3});
}

}  // namespace

extern const OpDef kDivide = binary<(kNumbers | kComplex)>({
    .name = "stablehlo.divide",
    .doc = "z = x / y; integers: toward zero, x / 0 = -1 (all ones), MIN / -1 = MIN.",
    .evaluate = evaluate_binary<value, value, value>,
    .gradient = binary_gradient<dx, dy>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kDivide>,
    .flops = 4,
});

}  // namespace ingot::divide_op
