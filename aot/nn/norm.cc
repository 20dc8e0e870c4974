#include "aot/nn/norm.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/base/contains.h"
#include "aot/frontend/trace/trace.h"

namespace ingot::nn {

BatchNorm::BatchNorm(int64_t num_features, const Options& options, std::vector<int64_t> ranks)
    : options_(options), ranks_(std::move(ranks)) {
  const TensorType type{options.dtype, {num_features}};
  if (options.affine) {
    weight = register_parameter("weight", type, init::ones());
    bias = register_parameter("bias", type, init::zeros());
  }
  if (options.track_running_stats) {
    running_mean = register_buffer("running_mean", type, init::zeros());
    running_var = register_buffer("running_var", type, init::ones());
    num_batches_tracked = register_buffer("num_batches_tracked", {DType::kI64, {}}, init::zeros());
  }
}

void BatchNorm::update_running_statistics(const Tensor& mean, const Tensor& variance, int64_t count) {
  num_batches_tracked.copy_(num_batches_tracked + 1);
  const Tensor momentum =
      options_.momentum ? Tensor(*options_.momentum) : 1.0 / to(num_batches_tracked, options_.dtype);
  const double unbias = static_cast<double>(count) / static_cast<double>(std::max<int64_t>(count - 1, 1));
  running_mean.copy_((1 - momentum) * running_mean + momentum * detach(mean));
  running_var.copy_((1 - momentum) * running_var + momentum * (detach(variance) * unbias));
}

Tensor BatchNorm::forward(const Tensor& x) {
  if (!contains(ranks_, x.dim())) {
    fail(fmt::format("batch normalisation: {} has {} dimensions, not {}", to_string(x.type()), x.dim(), ranks_.back()));
  }
  Dims axes = 0;
  Dims channels = {x.size(1)};
  for (int64_t i = 2; i < x.dim(); ++i) {
    axes.push_back(i);
    channels.push_back(1);
  }
  const auto per_channel = [&](const Tensor& t) { return reshape(t, channels); };

  Tensor centered, variance;
  if (is_training() || !options_.track_running_stats) {
    const Tensor mean = ingot::mean(x, axes);
    centered = x - per_channel(mean);
    variance = ingot::mean(square(centered), axes);
    if (options_.track_running_stats) update_running_statistics(mean, variance, x.numel() / x.size(1));
  } else {
    centered = x - per_channel(running_mean);
    variance = running_var;
  }
  const Tensor inverse = rsqrt(variance + options_.eps);
  if (!options_.affine) return centered * per_channel(inverse);
  return centered * per_channel(inverse) * per_channel(weight) + per_channel(bias);
}

LayerNorm::LayerNorm(const Dims& normalized_shape, const Options& options)
    : normalized_shape_(normalized_shape), eps_(options.eps) {
  const TensorType type{options.dtype, normalized_shape};
  if (options.elementwise_affine) weight = register_parameter("weight", type, init::ones());
  if (options.elementwise_affine && options.bias) bias = register_parameter("bias", type, init::zeros());
}

Tensor LayerNorm::forward(const Tensor& x) { return layer_norm(x, normalized_shape_, weight, bias, eps_); }

}  // namespace ingot::nn
