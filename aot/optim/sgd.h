// Stochastic gradient descent.
#pragma once

#include "aot/optim/optimizer.h"

namespace ingot::optim {

struct SGDOptions {
  Tensor lr = 1e-3;
  Tensor momentum = 0;
  Tensor dampening = 0;
  Tensor weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;
};

// g += weight_decay w;  v = momentum v + (1 - dampening) g, v = g at the first step;  w -= lr v, or with Nesterov's
// momentum w -= lr (g + momentum v). Sutskever et al. 2013.
class SGD : public Optimizer {
 public:
  explicit SGD(std::vector<Tensor> parameters, const SGDOptions& options = {});

  SGDOptions options;

 private:
  Tensor default_lr() const override { return options.lr; }
  void update(Tensor parameter, const Tensor& gradient, const Tensor& lr) override;
};

}  // namespace ingot::optim
