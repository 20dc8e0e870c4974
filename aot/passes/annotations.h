// Ops that say something about their operands and give them back as they are.
#pragma once

#include "aot/graph/graph.h"

namespace ingot {

bool is_annotation(const Op& op);  // a custom call for sharding, placement or layout
bool is_barrier(const Op& op);     // optimization_barrier

}  // namespace ingot
