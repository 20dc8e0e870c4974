// What users choose, before it goes into a bundle: names, and how many of them.
#pragma once

#include <vector>

#include "aot/graph/graph.h"

namespace ingot {

// Throws an Error for an entry point, input, output, state or role whose name is no plain text (schema/text.h), for a
// state of a name that state files keep for themselves, and for more inputs or outputs than there may be.
void check_signatures(const std::vector<Function*>& entries);

}  // namespace ingot
