// What a sort sorts.
#pragma once

#include "aot/graph/op.h"

namespace ingot::ops {

// The dimension along which a stablehlo.sort sorts, counted from 0.
int64_t sort_dimension(const Op& sort);

}  // namespace ingot::ops
