// Weights that are constants are transformed by the compiler.
#pragma once

#include "aot/graph/graph.h"

namespace ingot::winograd {

// Whether what the value of the kernel's region is made of are constants, or kernels that read nothing else.
bool is_constant(const Op& kernel, const Value* value);

// A kernel's result, or the constant that it is where the kernel reads constants only.
Value* folded(Value* made);

}  // namespace ingot::winograd
