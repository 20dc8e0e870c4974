// Normalisation by the statistics of each sample.
#include <fmt/format.h>

#include <algorithm>

#include "aot/base/join.h"
#include "aot/frontend/trace/broadcast.h"
#include "aot/frontend/trace/functions.h"

namespace ingot {

// y = (x - mean) / sqrt(var + eps) * w + b over the last dimensions. Ba, Kiros & Hinton 2016, eqs. 3-4.
Tensor layer_norm(const In& in, const Dims& normalized_shape, const Tensor& weight, const Tensor& bias, double eps) {
  const Scope scope(in.at);
  const Tensor& x = in.tensor;
  const auto count = static_cast<int64_t>(normalized_shape.size());
  if (count == 0 || count > x.dim() ||
      !std::equal(normalized_shape.begin(), normalized_shape.end(), x.shape().end() - count)) {
    fail(fmt::format("layer_norm: {} does not end in [{}]", to_string(x.type()), join(normalized_shape, ", ")));
  }
  Dims axes;
  for (int64_t i = -count; i < 0; ++i) axes.push_back(i);
  const Tensor centered = x - mean(x, axes, true);
  Tensor y = centered * rsqrt(mean(square(centered), axes, true) + eps);
  if (weight.defined()) y = y * weight;
  if (bias.defined()) y = y + bias;
  return y;
}

}  // namespace ingot
