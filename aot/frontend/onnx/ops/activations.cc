// Activation functions.
#include "aot/frontend/onnx/activations.h"

#include <fmt/format.h>

#include <cmath>

#include "aot/frontend/onnx/node_args.h"

namespace ingot::onnx {

Term elu(Term x, double alpha) { return where(x < x.like(0), (x.unary(kExponentialMinusOne)) * alpha, x); }

Term hard_sigmoid(Term x, double alpha, double beta) { return min(max(x * alpha + beta, 0), 1); }

Term leaky_relu(Term x, double alpha) { return where(x < x.like(0), x * alpha, x); }

Term thresholded_relu(Term x, double alpha) { return where(x > x.like(alpha), x, 0); }

Term gelu(Term x, bool by_tanh) {
  if (!by_tanh) return x * 0.5 * ((x * std::sqrt(0.5)).unary(kErf) + 1);
  return x * 0.5 * (tanh((x + x * x * x * 0.044715) * std::sqrt(2 / M_PI)) + 1);
}

Items lower_relu(NodeArgs& n) { return max(n.in(0), 0); }
Items lower_leaky_relu(NodeArgs& n) { return leaky_relu(n.in(0), n.number("alpha", 0.01F)); }
Items lower_elu(NodeArgs& n) { return elu(n.in(0), n.number("alpha", 1)); }
Items lower_softplus(NodeArgs& n) { return softplus(n.in(0)); }
Items lower_thresholded_relu(NodeArgs& n) { return thresholded_relu(n.in(0), n.number("alpha", 1)); }

// max(0, x) + min(0, alpha (exp(x / alpha) - 1))
Items lower_celu(NodeArgs& n) {
  const double alpha = n.number("alpha", 1);
  const Term x = n.in(0);
  return max(x, 0) + min((x / alpha).unary(kExponentialMinusOne) * alpha, 0);
}

Items lower_selu(NodeArgs& n) {
  return elu(n.in(0), n.number("alpha", 1.67326319217681884765625)) * n.number("gamma", 1.05070102214813232421875);
}

Items lower_hard_sigmoid(NodeArgs& n) { return hard_sigmoid(n.in(0), n.number("alpha", 0.2F), n.number("beta", 0.5)); }

Items lower_hard_swish(NodeArgs& n) {
  const Term x = n.in(0);
  return x * hard_sigmoid(x, 1.0 / 6, 0.5);
}

Items lower_softsign(NodeArgs& n) {
  const Term x = n.in(0);
  return x / (abs(x) + 1);
}

Items lower_mish(NodeArgs& n) {
  const Term x = n.in(0);
  return x * tanh(softplus(x));
}

Items lower_swish(NodeArgs& n) {
  const Term x = n.in(0);
  return x * sigmoid(x * n.number("alpha", 1));
}

Items lower_gelu(NodeArgs& n) {
  const std::string approximate = n.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    n.fail(fmt::format("approximate = '{}': none or tanh", approximate));
  return gelu(n.in(0), approximate == "tanh");
}

// x < -lambd: x + bias; x > lambd: x - bias; else 0
Items lower_shrink(NodeArgs& n) {
  const Term x = n.in(0);
  const double bias = n.number("bias", 0), lambda = n.number("lambd", 0.5);
  const Term wide = is_integer(dtype_of(x)) ? converted(x, DType::kF32) : x;
  const Term y = where(wide < wide.like(-lambda), wide + bias, where(wide > wide.like(lambda), wide - bias, 0));
  return converted(y, dtype_of(x));
}

// The slope broadcasts to x alone.
Items lower_prelu(NodeArgs& n) {
  const Term x = n.in(0), slope = broadcast(n.in(1), x.shape());
  return where(x < x.like(0), x * slope, x);
}

}  // namespace ingot::onnx
