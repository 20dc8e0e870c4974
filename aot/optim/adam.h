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
};

// m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  w -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps).
// Kingma & Ba 2015. weight_decay adds weight_decay w to the gradient; AMSGrad keeps the largest v (Reddi et al. 2018).
class Adam : public Optimizer {
 public:
  explicit Adam(std::vector<Tensor> parameters, const AdamOptions& options = {});

  AdamOptions options;

 protected:
  void update(Tensor parameter, const Tensor& gradient, const Tensor& lr) override;
  void move(Tensor parameter, const Tensor& gradient, const Tensor& lr);

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

// Adam with the decay on the weight itself, w -= lr weight_decay w, apart from the gradient. Loshchilov & Hutter 2019.
class AdamW : public Adam {
 public:
  explicit AdamW(std::vector<Tensor> parameters, const AdamWOptions& options = {});

 private:
  void update(Tensor parameter, const Tensor& gradient, const Tensor& lr) override;
};

}  // namespace ingot::optim
