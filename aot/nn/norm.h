// Normalising layers.
#pragma once

#include <optional>

#include "aot/frontend/trace/functions.h"
#include "aot/nn/module.h"

namespace ingot::nn {

// y = (x - mean) / sqrt(var + eps) * weight + bias for each channel (dimension 1), over the batch and what follows it.
// Ioffe & Szegedy 2015. In training the statistics are the batch's (biased variance) and the running ones move towards
// them (unbiased variance); in eval the running ones are used.
class BatchNorm : public Module {
 public:
  struct Options {
    double eps = 1e-5;
    std::optional<double> momentum = 0.1;  // none: the running statistics are a plain average over all batches
    bool affine = true;
    bool track_running_stats = true;
    DType dtype = DType::kF32;
  };
  Tensor forward(const Tensor& x) override;

  Tensor weight, bias;
  Tensor running_mean, running_var, num_batches_tracked;

 protected:
  BatchNorm(int64_t num_features, const Options& options, std::vector<int64_t> ranks);

 private:
  void update_running_statistics(const Tensor& mean, const Tensor& variance, int64_t count);

  Options options_;
  std::vector<int64_t> ranks_;  // of inputs that are accepted
};

class BatchNorm1d : public BatchNorm {  // x [N, C] or [N, C, L]
 public:
  explicit BatchNorm1d(int64_t num_features, const Options& options) : BatchNorm(num_features, options, {2, 3}) {}
  explicit BatchNorm1d(int64_t num_features) : BatchNorm1d(num_features, Options()) {}
};

class BatchNorm2d : public BatchNorm {  // x [N, C, H, W]
 public:
  explicit BatchNorm2d(int64_t num_features, const Options& options) : BatchNorm(num_features, options, {4}) {}
  explicit BatchNorm2d(int64_t num_features) : BatchNorm2d(num_features, Options()) {}
};

// As the function layer_norm, over the last dimensions, with a weight and a bias of normalized_shape.
class LayerNorm : public Module {
 public:
  struct Options {
    double eps = 1e-5;
    bool elementwise_affine = true;
    bool bias = true;
    DType dtype = DType::kF32;
  };
  LayerNorm(const Dims& normalized_shape, const Options& options);
  explicit LayerNorm(const Dims& normalized_shape) : LayerNorm(normalized_shape, Options()) {}
  Tensor forward(const Tensor& x) override;

  Tensor weight, bias;

 private:
  Dims normalized_shape_;
  double eps_;
};

}  // namespace ingot::nn
