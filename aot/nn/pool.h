// Pooling layers, NCHW. Options are the functions' own: stride (default: the kernel), padding, dilation, ceil_mode.
#pragma once

#include "aot/frontend/trace/functions.h"
#include "aot/nn/module.h"

namespace ingot::nn {

// A module that is one function of windows.
template <Tensor (*kFunction)(const In&, const Dims&, const Pool2dOptions&)>
class Pool2d : public Module {
 public:
  explicit Pool2d(const Dims& kernel_size, const Pool2dOptions& options = {})
      : kernel_size_(kernel_size), options_(options) {}
  Tensor forward(const Tensor& x) override { return kFunction(x, kernel_size_, options_); }

 private:
  Dims kernel_size_;
  Pool2dOptions options_;
};

class MaxPool2d : public Pool2d<max_pool2d> {
  using Pool2d::Pool2d;
};
class AvgPool2d : public Pool2d<avg_pool2d> {
  using Pool2d::Pool2d;
};

class AdaptiveAvgPool2d : public Module {
 public:
  explicit AdaptiveAvgPool2d(const Dims& output_size) : output_size_(output_size) {}
  Tensor forward(const Tensor& x) override { return adaptive_avg_pool2d(x, output_size_); }

 private:
  Dims output_size_;
};

}  // namespace ingot::nn
