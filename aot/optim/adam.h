// Adam and AdamW.
#pragma once

#include <array>

#include "aot/optim/optimizer.h"

namespace ingot::optim {

struct AdamOptions {
  Tensor lr = 1e-3;
  std::array<Tensor, 2> betas = {0.9, 0.999};
  Tensor eps = 1e-8;
  Tensor weight_decay = 0;
  bool amsgrad = false;
  bool maximize = false;
  bool decoupled_weight_decay = false;
};

// m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  w -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps).
// Kingma & Ba 2015. weight_decay adds weight_decay w to the gradient, or, decoupled, takes lr weight_decay w from the
// weight itself; AMSGrad keeps the largest v (Reddi et al. 2018).
class Adam : public Optimizer {
 public:
  explicit Adam(std::vector<Tensor> parameters, const AdamOptions& options = {});

  AdamOptions options;

 protected:
  struct Decayed {
    Tensor weight;
    Tensor gradient;
  };

  void update(Tensor parameter, const Tensor& gradient, const Tensor& lr) override;
  // A weight, and the gradient along which it moves, with weight decay in one of them.
  Decayed decayed(const Tensor& weight, const Tensor& gradient, const Tensor& lr) const;
  // b1 m + (1 - b1) g and b2 v + (1 - b2) g^2.
  Tensor next_mean(const Tensor& mean, const Tensor& gradient) const;
  Tensor next_square(const Tensor& square, const Tensor& gradient) const;
  Tensor moved(const Tensor& weight, const Tensor& mean, const Tensor& square, const Tensor& lr) const;

 private:
  Tensor default_lr() const override { return options.lr; }
};

struct AdamWOptions {
  Tensor lr = 1e-3;
  std::array<Tensor, 2> betas = {0.9, 0.999};
  Tensor eps = 1e-8;
  Tensor weight_decay = 1e-2;
  bool amsgrad = false;
  bool maximize = false;
};

// Adam with decoupled weight decay. Loshchilov & Hutter 2019.
class AdamW : public Adam {
 public:
  explicit AdamW(std::vector<Tensor> parameters, const AdamWOptions& options = {});
};

}  // namespace ingot::optim
