// The arithmetic of a fused function: what its kernels compute, whatever loops they become.
#pragma once

#include "aot/graph/graph.h"

namespace ingot {

// Floating point operations of an op, a block or a function, by OpDef::flops; integers and logic count nothing. A
// contraction has two for each multiply-add of elements that exist: neither padding nor the holes of dilation. A loop
// counts as often as it is known to run, else once; of branches, the longest.
int64_t count_flops(const Op& op);
int64_t count_flops(const Block& block);

}  // namespace ingot
