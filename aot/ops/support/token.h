// Tokens: values without data, that order effects.
#pragma once

#include "aot/graph/type.h"

namespace ingot::ops {

inline TensorType token_type() { return {DType::kToken, {0}}; }

}  // namespace ingot::ops
