// Constants behind a few ops that were too large to be folded.
#pragma once

#include "aot/graph/graph.h"

namespace ingot {

// What `value` is, where ops that move elements, or map them one by one, make it of constants alone; null for others.
LiteralRef made_literal(const Value* value);

// Whether all its floats are numbers.
bool are_finite(const Literal& literal);

}  // namespace ingot
