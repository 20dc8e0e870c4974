#include "aot/optim/sgd.h"

namespace ingot::optim {

SGD::SGD(std::vector<Tensor> parameters, const SGDOptions& o)
    : Optimizer(std::move(parameters), !is_zero(o.dampening)), options(o) {}

void SGD::update(Tensor parameter, const Tensor& gradient, const Tensor& lr) {
  Tensor g = options.maximize ? -gradient : gradient;
  if (!is_zero(options.weight_decay)) g = g + options.weight_decay * parameter;
  if (!is_zero(options.momentum)) {
    Tensor momentum = slot(parameter, "momentum_buffer");
    Tensor share = g;
    if (steps().defined()) share = where(steps() == 1, g, (1 - options.dampening) * g);
    momentum.copy_(options.momentum * momentum + share);
    g = options.nesterov ? g + options.momentum * momentum : momentum;
  }
  parameter.copy_(parameter - lr * g);
}

}  // namespace ingot::optim
