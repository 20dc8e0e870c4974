#include "aot/optim/adam.h"

namespace ingot::optim {

Adam::Adam(std::vector<Tensor> parameters, const AdamOptions& o) : Optimizer(std::move(parameters), true), options(o) {}

void Adam::update(Tensor parameter, const Tensor& gradient, const Tensor& lr) {
  const auto [weight, g] = decayed(parameter, gradient, lr);
  Tensor m = slot(parameter, "exp_avg"), v = slot(parameter, "exp_avg_sq");
  m.copy_(next_mean(m, g));
  v.copy_(next_square(v, g));
  Tensor second = v;
  if (options.amsgrad) {
    second = slot(parameter, "max_exp_avg_sq");
    second.copy_(maximum(second, v));
  }
  parameter.copy_(moved(weight, m, second, lr));
}

Adam::Decayed Adam::decayed(const Tensor& weight, const Tensor& gradient, const Tensor& lr) const {
  const Tensor g = options.maximize ? -gradient : gradient;
  if (is_zero(options.weight_decay)) return {weight, g};
  if (options.decoupled_weight_decay) return {weight * (1 - lr * options.weight_decay), g};
  return {weight, g + options.weight_decay * weight};
}

Tensor Adam::next_mean(const Tensor& mean, const Tensor& gradient) const {
  const Tensor& beta = options.betas[0];
  return beta * mean + (1 - beta) * gradient;
}

Tensor Adam::next_square(const Tensor& square, const Tensor& gradient) const {
  const Tensor& beta = options.betas[1];
  return beta * square + (1 - beta) * (gradient * gradient);
}

Tensor Adam::moved(const Tensor& weight, const Tensor& mean, const Tensor& square, const Tensor& lr) const {
  const auto& [beta1, beta2] = options.betas;
  const DType dtype = weight.dtype();
  const Tensor rate = lr / bias_correction(beta1, dtype);
  const Tensor deviation = sqrt(square) / sqrt(bias_correction(beta2, dtype)) + options.eps;
  return weight - rate * (mean / deviation);
}

AdamW::AdamW(std::vector<Tensor> parameters, const AdamWOptions& o)
    : Adam(std::move(parameters), {o.lr, o.betas, o.eps, o.weight_decay, o.amsgrad, o.maximize, true}) {}

}  // namespace ingot::optim
