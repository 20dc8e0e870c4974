#include "aot/ops/elementwise.h"

namespace ingot {
namespace {

// The root of erf(y) = x by Halley's method: with f = erf(y) - x, f'' = -2 y f'. From 0.5 upwards f is taken from erfc,
// where 1 - x is exact.
double value(double x) {
  const double a = std::abs(x);
  if (!(a < 1)) return a == 1 ? std::copysign(INFINITY, x) : NAN;
  const double w = -std::log((1 - a) * (1 + a));
  // Winitzki's approximation, good to 0.002.
  const double s = 2 / (M_PI * 0.147) - w / 2;
  double y = std::sqrt(std::sqrt(s * s + w / 0.147) - s);
  if (a < 0x1p-20) y = a / M_2_SQRTPI;
  for (int i = 0; i < 4; ++i) {
    const double f = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const double step = f / (M_2_SQRTPI * std::exp(-y * y));
    y -= step / (1 + y * step);
  }
  return std::copysign(y, x);
}

// dx = dy sqrt(pi)/2 e^(y²)
constexpr auto dx = [](Term, Term y, Term dy) { return dy / M_2_SQRTPI * exp(square(y)); };

std::vector<Sample> samples() { return unary_samples("chlo.erf_inv", kFloats, {-1.1, 1.1}, Range{-0.9, 0.9}); }

}  // namespace

extern const OpDef kErfInv = chlo_unary<kFloats>({
    .name = "chlo.erf_inv",
    .doc = "The y for which erf(y) = x; infinite at -1 and 1, NaN beyond.",
    .evaluate = evaluate_unary<value>,
    .gradient = unary_gradient<dx>,
    .samples = samples,
    .element = element_of<ScalarOp::kErfInv>,
    .ulp = {.f32 = 1, .f64 = 6},
    .flops = 2 * kMathFlops,
});

}  // namespace ingot
