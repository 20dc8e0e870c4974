// RMSprop and Adagrad.
#pragma once

#include "aot/optim/optimizer.h"

namespace ingot::optim {

struct RMSpropOptions {
  Tensor lr = 1e-2;
  Tensor alpha = 0.99;
  Tensor eps = 1e-8;
  Tensor weight_decay = 0;
  Tensor momentum = 0;
  bool centered = false;
};

// s = alpha s + (1 - alpha) g^2;  w -= lr g / (sqrt(s) + eps), or along a momentum of those; centered subtracts the
// squared mean gradient from s. Tieleman & Hinton 2012; Graves 2013.
class RMSprop : public Optimizer {
 public:
  explicit RMSprop(std::vector<Tensor> parameters, const RMSpropOptions& options = {});

  RMSpropOptions options;

 private:
  Tensor default_lr() const override { return options.lr; }
  void update(Tensor parameter, const Tensor& gradient, const Tensor& lr) override;
};

struct AdagradOptions {
  Tensor lr = 1e-2;
  Tensor lr_decay = 0;
  Tensor weight_decay = 0;
  double initial_accumulator_value = 0;
  Tensor eps = 1e-10;
};

// s += g^2;  w -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps). Duchi, Hazan & Singer 2011.
class Adagrad : public Optimizer {
 public:
  explicit Adagrad(std::vector<Tensor> parameters, const AdagradOptions& options = {});

  AdagradOptions options;

 private:
  Tensor default_lr() const override { return options.lr; }
  void update(Tensor parameter, const Tensor& gradient, const Tensor& lr) override;
};

}  // namespace ingot::optim
