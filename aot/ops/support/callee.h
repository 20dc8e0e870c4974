// What ops that name a function of their module have in common: func.call and stablehlo.composite.
#pragma once

#include <string_view>

#include "aot/graph/op.h"

namespace ingot {

// The result types as written. The verifier compares them with the function's, which may stand later in the text.
std::vector<TensorType> declared_results(const InferArgs& args);

// The results of the function that `attribute` names, on the op's inputs.
std::vector<RefTensor> run_callee(const EvaluateArgs& args, std::string_view attribute);

// A sample whose @main returns `call`, an op that applies the function @twice to %x: tensor<2x3xf32>.
Sample sample_of_call(std::string_view call);

}  // namespace ingot
