// When two ops compute the same: equal definition, operands, attributes, result types and regions (up to names).
#pragma once

#include "aot/graph/op.h"

namespace ingot {

bool same(const Op& a, const Op& b);

// Equal for ops that are the same.
size_t hash_of(const Op& op);

}  // namespace ingot
