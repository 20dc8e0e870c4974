// Constants of few bits that are made floats element by element: weights that memory holds as they are.
#pragma once

#include "aot/graph/graph.h"

namespace ingot {

// Whether elementwise ops, and such that move or repeat elements, make the value of constants of at most half its bytes.
bool is_widened_constant(const Value* value);

}  // namespace ingot
