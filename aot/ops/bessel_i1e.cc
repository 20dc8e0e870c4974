#include "aot/base/special_functions.h"
#include "aot/ops/support/elementwise.h"

namespace ingot::bessel_i1e_op {
namespace {

std::vector<Sample> samples() { return unary_samples("chlo.bessel_i1e", kFloats, {-20, 20}); }

}  // namespace

extern const OpDef kBesselI1e = chlo_unary<kFloats>({
    .name = "chlo.bessel_i1e",
    .doc = "y = e^-|x| I1(x), with the modified Bessel function of the first kind.",
    .evaluate = evaluate_unary<bessel_i1e>,
    .samples = samples,
    .element = element_of<ScalarOp::kBesselI1e>,
    .ulp = {.f32 = 1, .f64 = 5},
    .flops = 2 * kMathFlops,
});

}  // namespace ingot::bessel_i1e_op
