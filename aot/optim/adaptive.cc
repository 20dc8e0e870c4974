#include "aot/optim/adaptive.h"

namespace ingot::optim {

RMSprop::RMSprop(std::vector<Tensor> parameters, const RMSpropOptions& o)
    : Optimizer(std::move(parameters), false), options(o) {}

void RMSprop::update(Tensor parameter, const Tensor& gradient, const Tensor& lr) {
  const Tensor& alpha = options.alpha;
  Tensor g = gradient;
  if (!is_zero(options.weight_decay)) g = g + options.weight_decay * parameter;
  Tensor square_avg = slot(parameter, "square_avg");
  square_avg.copy_(alpha * square_avg + (1 - alpha) * (g * g));
  Tensor variance = square_avg;
  if (options.centered) {
    Tensor grad_avg = slot(parameter, "grad_avg");
    grad_avg.copy_(alpha * grad_avg + (1 - alpha) * g);
    variance = square_avg - grad_avg * grad_avg;
  }
  Tensor direction = g / (sqrt(variance) + options.eps);
  if (!is_zero(options.momentum)) {
    Tensor momentum = slot(parameter, "momentum_buffer");
    momentum.copy_(options.momentum * momentum + direction);
    direction = momentum;
  }
  parameter.copy_(parameter - lr * direction);
}

Adagrad::Adagrad(std::vector<Tensor> parameters, const AdagradOptions& o)
    : Optimizer(std::move(parameters), true), options(o) {}

void Adagrad::update(Tensor parameter, const Tensor& gradient, const Tensor& lr) {
  Tensor g = gradient;
  if (!is_zero(options.weight_decay)) g = g + options.weight_decay * parameter;
  Tensor sum = slot(parameter, "sum", init::constant(options.initial_accumulator_value));
  sum.copy_(sum + g * g);
  const Tensor rate = is_zero(options.lr_decay) ? lr : lr / (1 + to(steps() - 1, parameter.dtype()) * options.lr_decay);
  parameter.copy_(parameter - rate * (g / (sqrt(sum) + options.eps)));
}

}  // namespace ingot::optim
