// What takes the place of what when a block ends.
#pragma once

#include <vector>

#include "aot/graph/graph.h"

namespace ingot {

// For each result of a block: the argument whose place it takes at the end, or null.
using Replaced = std::vector<const Value*>;
Replaced replaced_state(const Function& function);  // arguments and results of one state
Replaced replaced_carried(const Block& body);       // of a loop

}  // namespace ingot
