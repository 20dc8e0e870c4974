// ONNX's conversion of element types.
#pragma once

#include <string_view>

#include "aot/frontend/onnx/terms.h"

namespace ingot::onnx {

// What is too large for a float of 8 bits or fewer becomes the greatest one where `saturates`, else NaN or infinite.
// `round_mode` is for f8E8M0FNU: up, down or nearest.
Term cast_to(Term x, DType dtype, bool saturates, std::string_view round_mode);

}  // namespace ingot::onnx
