// What is asked of a model before it is imported.
#pragma once

#include "aot/frontend/onnx/model.h"

namespace ingot::onnx {

// Throws for versions that are not known, and a limit that names every op that is not supported, with its nodes.
void check_model(const Model& model);

}  // namespace ingot::onnx
