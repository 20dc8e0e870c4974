// Rows of matrices in another order: what factorisations with pivots make.
#pragma once

#include "aot/graph/builder.h"

namespace ingot::ops {

// The row numbers [..., rows] after row k was exchanged with row pivots[..., k], for each k in order.
Value* permutation_of_pivots(GraphBuilder& b, Value* pivots, int64_t rows);

}  // namespace ingot::ops
