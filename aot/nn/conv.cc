#include "aot/nn/conv.h"

#include <cmath>

namespace ingot::nn {

// Starts as Linear does: uniform in +-1/sqrt(inputs of one output).
Conv2d::Conv2d(int64_t in_channels, int64_t out_channels, const Dims& kernel_size, const Options& options)
    : options_{options.stride, options.padding, options.dilation, options.groups, options.same} {
  const Shape shape{out_channels, in_channels / options.groups, kernel_size.front(), kernel_size.back()};
  const double bound = 1 / std::sqrt(static_cast<double>(shape[1] * shape[2] * shape[3]));
  weight = register_parameter("weight", {options.dtype, shape}, init::uniform(-bound, bound));
  if (options.bias) bias = register_parameter("bias", {options.dtype, {out_channels}}, init::uniform(-bound, bound));
}

Tensor Conv2d::forward(const Tensor& x) { return conv2d(x, weight, bias, options_); }

}  // namespace ingot::nn
