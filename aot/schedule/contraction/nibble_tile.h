// The innermost part of a contraction whose columns are ingot.unpack_nibbles, in vectors along the depth.
#pragma once

#include "aot/schedule/contraction/register_tile.h"

namespace ingot::schedule {

// Whether the plan's columns are made of 4 bits by the tile itself.
bool has_nibbles(const ContractionPlan& plan);

// The sums of rows x columns, as emit_depth_tile gives them. A digit d of a word stands for d - 8, and is taken where it
// stands: as d 16^j, which is multiplied by x / 16^j. What the 8, and a block's zero, take off is the same for all
// columns: of the sum of x. So a block is s (sum x d - (8 + zero) sum x). Where x is near the largest float that is no number.
loops::TileId emit_nibble_tile(ContractionPoint& point, const Tile& tile, const RowsPanel& rows,
                               const ColumnsPanel& columns);

}  // namespace ingot::schedule
