#include "aot/ops/support/elementwise.h"

namespace ingot::remainder_op {
namespace {

double value(double x, double y) { return std::fmod(x, y); }

int64_t value(int64_t x, int64_t y, DType dtype) {
  if (y == 0) return x;
  if (!is_signed(dtype)) return static_cast<int64_t>(static_cast<uint64_t>(x) % static_cast<uint64_t>(y));
  return y == -1 ? 0 : x % y;
}

// dx = dz
constexpr auto dx = [](Term, Term, Term, Term dz) { return dz; };
// dy = -dz trunc(x / y), and trunc(x / y) = (x - z) / y
constexpr auto dy = [](Term x, Term y, Term z, Term dz) { return -(dz * ((x - z) / y)); };

std::vector<Sample> samples() { return binary_samples("stablehlo.remainder", kNumbers, {-100, 100}, Range{0.5, 3}); }

}  // namespace

extern const OpDef kRemainder = binary<kNumbers>({
    .name = "stablehlo.remainder",
    .doc = "z = x - y trunc(x / y), with the sign of x; integers: x % 0 = x.",
    .evaluate = evaluate_binary<value, value>,
    .gradient = binary_gradient<dx, dy>,
    .samples = samples,
    .element = element_of<ScalarOp::kRemainder>,
    .flops = kMathFlops,
});

}  // namespace ingot::remainder_op
