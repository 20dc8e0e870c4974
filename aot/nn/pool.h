// Pooling layers, NCHW. Options are the functions' own: stride (default: the kernel), padding, dilation, ceil_mode.
#pragma once

#include "aot/frontend/trace/functions.h"
#include "aot/nn/module.h"

namespace ingot::nn {

class MaxPool2d : public Module {
 public:
  explicit MaxPool2d(const Dims& kernel_size, const Pool2dOptions& options = {})
      : kernel_size_(kernel_size), options_(options) {}
  Tensor forward(const Tensor& x) override { return max_pool2d(x, kernel_size_, options_); }

 private:
  Dims kernel_size_;
  Pool2dOptions options_;
};

class AvgPool2d : public Module {
 public:
  explicit AvgPool2d(const Dims& kernel_size, const Pool2dOptions& options = {})
      : kernel_size_(kernel_size), options_(options) {}
  Tensor forward(const Tensor& x) override { return avg_pool2d(x, kernel_size_, options_); }

 private:
  Dims kernel_size_;
  Pool2dOptions options_;
};

class AdaptiveAvgPool2d : public Module {
 public:
  explicit AdaptiveAvgPool2d(const Dims& output_size) : output_size_(output_size) {}
  Tensor forward(const Tensor& x) override { return adaptive_avg_pool2d(x, output_size_); }

 private:
  Dims output_size_;
};

}  // namespace ingot::nn
