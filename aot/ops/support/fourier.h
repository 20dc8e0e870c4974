// Discrete Fourier transforms as graph ops on real and imaginary parts: products with small constant matrices, joined
// by twiddle factors.
#pragma once

#include "aot/graph/op.h"

namespace ingot::ops {

// Along one axis of `parts`, of f32 or f64: y[k] = sum over n of x[n] e^(sign 2 pi i k n / N), sign +1 or -1. A null
// imaginary part is 0.
Parts fourier(GraphBuilder& b, Parts parts, int64_t axis, int sign);

}  // namespace ingot::ops
