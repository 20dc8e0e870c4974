// Whether a value decides anything: a comparison takes rounding errors for differences.
#pragma once

#include "aot/graph/graph.h"

namespace ingot {

// Whether a comparison, or whatever else gives integers, chooses elements or jumps, depends on the value, within its function. It
// may stand in a kernel. What is handed to loops and branches is taken to decide.
bool decides(const Value& value);

}  // namespace ingot
