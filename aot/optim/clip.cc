#include "aot/optim/clip.h"

#include "aot/frontend/trace/trace.h"

namespace ingot::optim {

Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, const Tensor& max_norm, Where at) {
  const Scope scope(at);
  Tensor total;
  for (const Tensor& parameter : parameters) {
    const Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    const Tensor own = sum(square(gradient));
    total = total.defined() ? total + own : own;
  }
  if (!total.defined()) fail("clip_grad_norm_: no parameter has a gradient; call backward() first");
  const Tensor norm = sqrt(total);
  const Tensor scale = minimum(max_norm / (norm + 1e-6), 1);
  for (const Tensor& parameter : parameters) {
    const Tensor gradient = parameter.grad();
    if (gradient.defined()) parameter.set_grad(gradient * scale);
  }
  return norm;
}

void clip_grad_value_(const std::vector<Tensor>& parameters, const Tensor& clip_value, Where at) {
  const Scope scope(at);
  for (const Tensor& parameter : parameters) {
    const Tensor gradient = parameter.grad();
    if (gradient.defined()) parameter.set_grad(clamp(gradient, -clip_value, clip_value));
  }
}

}  // namespace ingot::optim
