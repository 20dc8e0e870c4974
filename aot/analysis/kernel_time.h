// How long a kernel of the graph takes, before anybody knows its loops.
#pragma once

#include "aot/graph/graph.h"
#include "aot/loops/target.h"

namespace ingot {

// Nanoseconds of one core by the target's row: what an ingot.kernel op computes and moves, and to begin it.
double predicted_ns(const Op& kernel, const loops::Target& target);

// The same of a kernel that only copies so many bytes.
double predicted_copy_ns(int64_t bytes, const loops::Target& target);

}  // namespace ingot
