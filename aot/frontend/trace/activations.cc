// Activation functions. Formulas are PyTorch's.
#include <fmt/format.h>

#include <numbers>

#include "aot/frontend/trace/broadcast.h"
#include "aot/frontend/trace/functions.h"

namespace ingot {

// max(x, 0), NaN for NaN; the gradient at 0 is 0.
Tensor relu(const In& x) {
  const Scope scope(x.at);
  return where(x.tensor <= 0, 0, x.tensor);
}

Tensor sigmoid(const In& x) {
  const Scope scope(x.at);
  return wrap(ops::unary(builder(), kLogistic, float_value(x.tensor)));
}

Tensor silu(const In& x) {
  const Scope scope(x.at);
  return x.tensor * sigmoid(x.tensor);
}

// Hendrycks & Gimpel 2016.
Tensor gelu(const In& in, const std::string& approximate) {
  const Scope scope(in.at);
  const Tensor& x = in.tensor;
  if (approximate == "none") return 0.5 * x * (1 + erf(x * std::numbers::sqrt2 / 2));
  if (approximate != "tanh") fail(fmt::format("gelu: approximate is 'none' or 'tanh', not '{}'", approximate));
  const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // sqrt(2 / pi)
  return 0.5 * x * (1 + tanh(scale * (x + 0.044715 * x * x * x)));
}

Tensor leaky_relu(const In& x, double negative_slope) {
  const Scope scope(x.at);
  return where(x.tensor > 0, x.tensor, negative_slope * x.tensor);
}

Tensor elu(const In& x, double alpha) {
  const Scope scope(x.at);
  return where(x.tensor > 0, x.tensor, alpha * expm1(minimum(x.tensor, 0)));
}

// log(1 + exp(z)) = max(z, 0) + log1p(exp(-|z|)), z = beta x
Tensor softplus(const In& x, double beta) {
  const Scope scope(x.at);
  const Tensor z = beta * x.tensor;
  return (maximum(z, 0) + log1p(exp(-abs(z)))) / beta;
}

Tensor logsigmoid(const In& x) {
  const Scope scope(x.at);
  return minimum(x.tensor, 0) - log1p(exp(-abs(x.tensor)));
}

// The largest element is subtracted first; the results do not depend on it, so no gradient flows through it.
Tensor softmax(const In& x, int64_t dim) {
  const Scope scope(x.at);
  const Tensor e = exp(x.tensor - detach(amax(x.tensor, dim, true)));
  return e / sum(e, dim, true);
}

Tensor log_softmax(const In& x, int64_t dim) {
  const Scope scope(x.at);
  const Tensor z = x.tensor - detach(amax(x.tensor, dim, true));
  return z - log(sum(exp(z), dim, true));
}

Tensor logsumexp(const In& x, int64_t dim, bool keepdim) {
  const Scope scope(x.at);
  const Tensor largest = detach(amax(x.tensor, dim, true));
  const Tensor result = log(sum(exp(x.tensor - largest), dim, true)) + largest;
  return keepdim ? result : squeeze(result, dim);
}

}  // namespace ingot
