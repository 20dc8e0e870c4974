// The gradients of stablehlo.reduce_window.
#pragma once

#include "aot/graph/op.h"

namespace ingot::ops {

Values reduce_window_gradient(GradientArgs& args);

}  // namespace ingot::ops
