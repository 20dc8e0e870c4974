#include "aot/optim/optimizer.h"

#include <cmath>

#include "aot/frontend/trace/trace.h"

namespace ingot::optim {

Optimizer::Optimizer(std::vector<Tensor> parameters, bool counts_steps)
    : name_(std::make_shared<std::string>("optimizer")), parameters_(std::move(parameters)) {
  if (!counts_steps) return;
  steps_ = tensor_of(std::make_shared<Variable>(
      Variable{[name = name_] { return *name + ".step"; }, {DType::kI64, {}}, "step", init::zeros(), false}));
}

void Optimizer::step(Where at) {
  const Scope scope(at);
  step(default_lr());
}

void Optimizer::step(const Tensor& lr, Where at) {
  const Scope scope(at);
  if (steps_.defined()) steps_.copy_(steps_ + 1);
  for (const Tensor& parameter : parameters_) {
    const Tensor gradient = parameter.grad();
    if (gradient.defined()) update(parameter, gradient, lr);
  }
  Trace::current().end_step();
}

void Optimizer::zero_grad(Where at) {
  const Scope scope(at);
  for (const Tensor& parameter : parameters_) parameter.set_grad({});
}

Optimizer& Optimizer::named(std::string name) {
  *name_ = std::move(name);
  return *this;
}

Tensor Optimizer::slot(const Tensor& parameter, const std::string& name, const Initializer& initializer) {
  return slot(parameter, name, parameter.type(), initializer);
}

Tensor Optimizer::slot(const Tensor& parameter, const std::string& name, TensorType type,
                       const Initializer& initializer) {
  Tensor& found = slots_[{parameter.name(), name}];
  if (!found.defined()) {
    auto full_name = [prefix = name_, parameter, name] { return *prefix + "." + parameter.name() + "." + name; };
    found =
        tensor_of(std::make_shared<Variable>(Variable{full_name, std::move(type), "optimizer", initializer, false}));
  }
  return found;
}

// 1 - beta^t = -expm1(t log beta)
Tensor Optimizer::bias_correction(const Tensor& beta, DType dtype) const {
  const Tensor log_beta = beta.is_number() ? Tensor(std::log(beta.number())) : log(to(beta, DType::kF64));
  return to(-expm1(to(steps_, DType::kF64) * log_beta), dtype);
}

}  // namespace ingot::optim
