#include "aot/base/special_functions.h"
#include "aot/ops/support/elementwise.h"

namespace ingot::zeta_op {
namespace {

// dq = -dz s zeta(s + 1, q)
Values gradient(GradientArgs& args) {
  if (args.needed[0]) {
    throw_limit(args.op.location, "chlo.zeta: no gradient for its exponent is supported yet");
  }
  if (!args.needed[1]) return {nullptr, nullptr};
  const Term s(args.b, args.operand(0)), q(args.b, args.operand(1)), dz(args.b, args.dy());
  return {nullptr, -(dz * s * (s + 1).binary(kZeta, q))};
}

std::vector<Sample> samples() { return binary_samples("chlo.zeta", kFloats, {1, 10}); }

}  // namespace

extern const OpDef kZeta = chlo_binary<kFloats>({
    .name = "chlo.zeta",
    .doc = "Hurwitz's zeta(s, q): the sum over k >= 0 of (q + k)^-s.",
    .evaluate = evaluate_binary<zeta>,
    .gradient = gradient,
    .samples = samples,
    .element = element_of<ScalarOp::kZeta>,
    .ulp = {.f32 = 1, .f64 = 6},
    .flops = 20 * kMathFlops,
});

}  // namespace ingot::zeta_op
