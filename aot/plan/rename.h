// Other names for what a node reads and makes.
#pragma once

#include <map>

#include "aot/lowered/lowered.h"

namespace ingot::plan {

using Renaming = std::map<lowered::ValueId, lowered::ValueId>;

// In its regions as well. Values without another name keep theirs.
void rename(lowered::Node& node, const Renaming& names);

// A node that does the same once more: of what it makes, temporaries too, each has a new value of `function`, which
// `names` then has.
lowered::Node made_again(lowered::Function& function, const lowered::Node& node, Renaming& names);

}  // namespace ingot::plan
