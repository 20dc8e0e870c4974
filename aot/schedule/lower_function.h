// From a function whose every op is in a kernel to the same for one target, as the plan reads it.
#pragma once

#include "aot/graph/graph.h"
#include "aot/loops/target.h"
#include "aot/lowered/lowered.h"

namespace ingot {

// Lowers every ingot.kernel; loops and branches stay. The result depends on the function's text and the target alone.
lowered::Function lower_function(const Function& function, const loops::Target& target);

// Gives every copy and fill of `function` a kernel.
void lower_copies(lowered::Function& function, const loops::Target& target);

}  // namespace ingot
