// Random lowered functions: their kernels compute nothing, and do all that a plan must heed.
#pragma once

#include "aot/lowered/lowered.h"

namespace ingot {

// The same for the same seed everywhere. Loops and branches stand in each other; values of every kind are returned,
// carried and read from outside; kernels write over operands, update windows, keep temporaries, have several results or
// read nothing; calls are hoistable where they may be. Each loop has a counter, by which its condition differs from
// iteration to iteration.
lowered::Function random_lowered(uint64_t seed);

}  // namespace ingot
