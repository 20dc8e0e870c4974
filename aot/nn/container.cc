#include "aot/nn/container.h"

#include "aot/frontend/trace/trace.h"

namespace ingot::nn {

Tensor ModuleList::forward(const Tensor&) {
  fail("a ModuleList cannot be called; call its modules, or use Sequential");
}

Tensor Sequential::forward(const Tensor& x) {
  Tensor y = x;
  for (const auto& module : *this) y = (*module)(y);
  return y;
}

}  // namespace ingot::nn
