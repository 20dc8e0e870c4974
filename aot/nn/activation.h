// Layers without parameters: activations, dropout, flattening.
#pragma once

#include "aot/frontend/trace/functions.h"
#include "aot/nn/module.h"

namespace ingot::nn {

// A module that is one function of its input.
template <Tensor (*kFunction)(const In&)>
class Elementwise : public Module {
 public:
  Tensor forward(const Tensor& x) override { return kFunction(x); }
};

class ReLU : public Elementwise<relu> {};
class SiLU : public Elementwise<silu> {};
class Tanh : public Elementwise<tanh> {};
class Sigmoid : public Elementwise<sigmoid> {};
class LogSigmoid : public Elementwise<logsigmoid> {};

class GELU : public Module {
 public:
  explicit GELU(std::string approximate = "none") : approximate_(std::move(approximate)) {}
  Tensor forward(const Tensor& x) override { return gelu(x, approximate_); }

 private:
  std::string approximate_;
};

class LeakyReLU : public Module {
 public:
  explicit LeakyReLU(double negative_slope = 0.01) : negative_slope_(negative_slope) {}
  Tensor forward(const Tensor& x) override { return leaky_relu(x, negative_slope_); }

 private:
  double negative_slope_;
};

class ELU : public Module {
 public:
  explicit ELU(double alpha = 1) : alpha_(alpha) {}
  Tensor forward(const Tensor& x) override { return elu(x, alpha_); }

 private:
  double alpha_;
};

class Softplus : public Module {
 public:
  explicit Softplus(double beta = 1) : beta_(beta) {}
  Tensor forward(const Tensor& x) override { return softplus(x, beta_); }

 private:
  double beta_;
};

class Softmax : public Module {
 public:
  explicit Softmax(int64_t dim) : dim_(dim) {}
  Tensor forward(const Tensor& x) override { return softmax(x, dim_); }

 private:
  int64_t dim_;
};

class LogSoftmax : public Module {
 public:
  explicit LogSoftmax(int64_t dim) : dim_(dim) {}
  Tensor forward(const Tensor& x) override { return log_softmax(x, dim_); }

 private:
  int64_t dim_;
};

class Identity : public Module {
 public:
  Tensor forward(const Tensor& x) override { return x; }
};

class Flatten : public Module {
 public:
  explicit Flatten(int64_t start_dim = 1, int64_t end_dim = -1) : start_dim_(start_dim), end_dim_(end_dim) {}
  Tensor forward(const Tensor& x) override { return flatten(x, start_dim_, end_dim_); }

 private:
  int64_t start_dim_, end_dim_;
};

// Srivastava et al. 2014; in training only.
class Dropout : public Module {
 public:
  explicit Dropout(double p = 0.5) : p_(p) {}
  Tensor forward(const Tensor& x) override { return dropout(x, p_, is_training()); }

 private:
  double p_;
};

}  // namespace ingot::nn
