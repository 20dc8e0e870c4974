// Clipping gradients between backward() and step().
#pragma once

#include "aot/frontend/trace/functions.h"

namespace ingot::optim {

// Scales all gradients by min(1, max_norm / (norm + 1e-6)), norm being the L2 norm of all of them together, which is
// given back. Pascanu, Mikolov & Bengio 2013.
Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, const Tensor& max_norm, Where at = Where::current());

// Clamps every element to [-clip_value, clip_value].
void clip_grad_value_(const std::vector<Tensor>& parameters, const Tensor& clip_value, Where at = Where::current());

}  // namespace ingot::optim
