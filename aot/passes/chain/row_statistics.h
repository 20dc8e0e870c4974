// What a kernel reduces, kept for a copy of it that is computed later.
#pragma once

#include "aot/graph/op.h"

namespace ingot {

Values reduces_in(const Op& kernel);

// Gives what the kernel reduces as results of it, in their order; those that it did not give are new. The kernel becomes
// another op.
Values give_reduced(Op*& kernel);

// Has the copy of a kernel read what that reduces, instead of reducing it again.
void read_reduced(Op& copy, const Values& given);

}  // namespace ingot
