// Activation functions that ops share.
#pragma once

#include "aot/frontend/onnx/terms.h"

namespace ingot::onnx {

Term elu(Term x, double alpha);  // x < 0: alpha (exp(x) - 1)
Term gelu(Term x, bool by_tanh);
Term hard_sigmoid(Term x, double alpha, double beta);  // alpha x + beta between 0 and 1
Term leaky_relu(Term x, double alpha);
Term thresholded_relu(Term x, double alpha);  // x > alpha: x, else 0

}  // namespace ingot::onnx
