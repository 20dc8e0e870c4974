// Ops that compute each element from one: y = f(x).
#include <cmath>
#include <limits>

#include "aot/frontend/onnx/node_args.h"

namespace ingot::onnx {

Items lower_abs(NodeArgs& n) { return n.in(0).unary(kAbs); }
Items lower_acos(NodeArgs& n) { return n.in(0).unary(kAcos); }
Items lower_acosh(NodeArgs& n) { return n.in(0).unary(kAcosh); }
Items lower_asin(NodeArgs& n) { return n.in(0).unary(kAsin); }
Items lower_asinh(NodeArgs& n) { return n.in(0).unary(kAsinh); }
Items lower_atan(NodeArgs& n) { return n.in(0).unary(kAtan); }
Items lower_atanh(NodeArgs& n) { return n.in(0).unary(kAtanh); }
Items lower_bitwise_not(NodeArgs& n) { return n.in(0).unary(kNot); }
Items lower_ceil(NodeArgs& n) { return n.in(0).unary(kCeil); }
Items lower_cos(NodeArgs& n) { return n.in(0).unary(kCosine); }
Items lower_cosh(NodeArgs& n) { return n.in(0).unary(kCosh); }
Items lower_erf(NodeArgs& n) { return n.in(0).unary(kErf); }
Items lower_exp(NodeArgs& n) { return exp(n.in(0)); }
Items lower_floor(NodeArgs& n) { return floor(n.in(0)); }
Items lower_identity(NodeArgs& n) { return n.item(0); }
Items lower_is_nan(NodeArgs& n) { return is_nan(n.in(0)); }
Items lower_log(NodeArgs& n) { return log(n.in(0)); }
Items lower_neg(NodeArgs& n) { return -n.in(0); }
Items lower_not(NodeArgs& n) { return n.in(0).unary(kNot); }
Items lower_reciprocal(NodeArgs& n) { return 1 / n.in(0); }
Items lower_round(NodeArgs& n) { return n.in(0).unary(kRoundNearestEven); }
Items lower_sigmoid(NodeArgs& n) { return sigmoid(n.in(0)); }
Items lower_sign(NodeArgs& n) { return sign(n.in(0)); }
Items lower_sin(NodeArgs& n) { return sin(n.in(0)); }
Items lower_sinh(NodeArgs& n) { return n.in(0).unary(kSinh); }
Items lower_sqrt(NodeArgs& n) { return square_root(n.in(0)); }
Items lower_tan(NodeArgs& n) { return n.in(0).unary(kTan); }
Items lower_tanh(NodeArgs& n) { return tanh(n.in(0)); }

Items lower_is_inf(NodeArgs& n) {
  const Term x = widened(n.in(0));
  const double infinity = std::numeric_limits<double>::infinity();
  const Term high = equal(x, x.like(infinity)), low = equal(x, x.like(-infinity));
  if (!n.flag("detect_negative", true)) return n.flag("detect_positive", true) ? high : both(high, low);
  return n.flag("detect_positive", true) ? either(high, low) : low;
}

}  // namespace ingot::onnx
