// Names that users choose, before they go into a bundle.
#pragma once

#include <vector>

#include "aot/graph/graph.h"

namespace ingot {

// Throws an Error for an entry point, input, output, state or role whose name is no plain text (schema/text.h), and for a
// state of a name that state files keep for themselves.
void check_names(const std::vector<Function*>& entries);

}  // namespace ingot
