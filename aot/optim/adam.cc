#include "aot/optim/adam.h"

namespace ingot::optim {

Adam::Adam(std::vector<Tensor> parameters, const AdamOptions& o) : Optimizer(std::move(parameters), true), options(o) {}

void Adam::update(Tensor parameter, const Tensor& gradient, const Tensor& lr) {
  Tensor g = options.maximize ? -gradient : gradient;
  if (!is_zero(options.weight_decay)) g = g + options.weight_decay * parameter;
  move(parameter, g, lr);
}

void Adam::move(Tensor parameter, const Tensor& g, const Tensor& lr) {
  const auto& [beta1, beta2] = options.betas;
  const DType dtype = parameter.dtype();
  Tensor m = slot(parameter, "exp_avg"), v = slot(parameter, "exp_avg_sq");
  m.copy_(beta1 * m + (1 - beta1) * g);
  v.copy_(beta2 * v + (1 - beta2) * (g * g));
  Tensor second = v;
  if (options.amsgrad) {
    second = slot(parameter, "max_exp_avg_sq");
    second.copy_(maximum(second, v));
  }
  const Tensor rate = lr / bias_correction(beta1, dtype);
  const Tensor deviation = sqrt(second) / sqrt(bias_correction(beta2, dtype)) + options.eps;
  parameter.copy_(parameter - rate * (m / deviation));
}

AdamW::AdamW(std::vector<Tensor> parameters, const AdamWOptions& o)
    : Adam(std::move(parameters), {o.lr, o.betas, o.eps, o.weight_decay, o.amsgrad, o.maximize}) {}

void AdamW::update(Tensor parameter, const Tensor& gradient, const Tensor& lr) {
  if (!is_zero(options.weight_decay)) parameter.copy_(parameter * (1 - lr * options.weight_decay));
  move(parameter, options.maximize ? -gradient : gradient, lr);
}

}  // namespace ingot::optim
