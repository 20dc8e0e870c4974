// Results that are only reshaped from a space whose rows are reduced.
#pragma once

#include <memory>

#include "aot/graph/op.h"

namespace ingot::schedule {

// The kernel with such results as they are before they are reshaped, which has the same elements in the same order; the
// block has that one op. Null where nothing changes.
std::unique_ptr<Block> without_reshapes_of_rows(const Op& kernel);

}  // namespace ingot::schedule
