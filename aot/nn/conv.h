// Convolutional layers.
#pragma once

#include "aot/frontend/trace/functions.h"
#include "aot/nn/module.h"

namespace ingot::nn {

// x [N, in, H, W] -> [N, out, H', W']; weight [out, in/groups, kh, kw], bias [out].
// Sizes are one number or {height, width}.
class Conv2d : public Module {
 public:
  struct Options {
    Dims stride = 1;
    Dims padding = 0;
    Dims dilation = 1;
    int64_t groups = 1;
    bool bias = true;
    bool same = false;  // PyTorch's padding="same"
    DType dtype = DType::kF32;
  };
  Conv2d(int64_t in_channels, int64_t out_channels, const Dims& kernel_size, const Options& options);
  Conv2d(int64_t in_channels, int64_t out_channels, const Dims& kernel_size)
      : Conv2d(in_channels, out_channels, kernel_size, Options()) {}
  Tensor forward(const Tensor& x) override;

  Tensor weight, bias;

 private:
  Conv2dOptions options_;
};

}  // namespace ingot::nn
