// The innermost part of a contraction whose vectors run along the depth.
#pragma once

#include "aot/schedule/contraction/register_tile.h"

namespace ingot::schedule {

// The sums of rows x columns, as emit_register_tile gives them: vectors of both operands are multiplied where they lie,
// added up lane by lane, and each vector of sums at last.
loops::TileId emit_depth_tile(ContractionPoint& point, const Tile& tile, const RowsPanel& rows,
                              const ColumnsPanel& columns);

// Sums of each row and column of such a tile, which are added to in turn: several where there are few to wait for.
int64_t depth_chains(int64_t rows, int64_t columns);

}  // namespace ingot::schedule
