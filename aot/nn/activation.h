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

// ... and of one option.
template <typename Option, Tensor (*kFunction)(const In&, Option)>
class WithOption : public Module {
 public:
  Tensor forward(const Tensor& x) override { return kFunction(x, option_); }

 protected:
  explicit WithOption(const Option& option) : option_(option) {}

 private:
  std::decay_t<Option> option_;
};

class ReLU : public Elementwise<relu> {};
class SiLU : public Elementwise<silu> {};
class Tanh : public Elementwise<tanh> {};
class Sigmoid : public Elementwise<sigmoid> {};
class LogSigmoid : public Elementwise<logsigmoid> {};

struct GELU : WithOption<const std::string&, gelu> {
  explicit GELU(const std::string& approximate = "none") : WithOption(approximate) {}
};
struct LeakyReLU : WithOption<double, leaky_relu> {
  explicit LeakyReLU(double negative_slope = 0.01) : WithOption(negative_slope) {}
};
struct ELU : WithOption<double, elu> {
  explicit ELU(double alpha = 1) : WithOption(alpha) {}
};
struct Softplus : WithOption<double, softplus> {
  explicit Softplus(double beta = 1) : WithOption(beta) {}
};
struct Softmax : WithOption<int64_t, softmax> {
  explicit Softmax(int64_t dim) : WithOption(dim) {}
};
struct LogSoftmax : WithOption<int64_t, log_softmax> {
  explicit LogSoftmax(int64_t dim) : WithOption(dim) {}
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
