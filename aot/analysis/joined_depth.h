// Operands of a product that are concatenated along its depth, the dimension that it sums up: [x, u] times y over v is
// x y + u v. Kernels read them from where they lie.
#pragma once

#include "aot/graph/op.h"

namespace ingot {

// Kernels sum up as much in one go; beyond that, what it takes to add two products is little beside them.
inline constexpr int64_t kJoinedDepthMax = 768;

// A concatenation that one dot_general alone reads, along the only dimension that it contracts, of that extent at most.
bool is_joined_depth(const Op& op);

}  // namespace ingot
