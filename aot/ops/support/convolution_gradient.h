// The gradients of convolution, as convolutions.
#pragma once

#include "aot/graph/op.h"

namespace ingot::ops {

Values convolution_gradient(GradientArgs& args);

}  // namespace ingot::ops
