// Replaces math functions (exp, tanh, ...) by primitive operations.
#pragma once

#include "aot/loops/loop.h"

namespace ingot::loops {

// Afterwards every scalar op in the kernel is primitive. Expressions shared within a statement stay shared.
void expand_math(Kernel& kernel);

}  // namespace ingot::loops
