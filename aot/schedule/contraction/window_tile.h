// The innermost part of a contraction along a batch dimension whose rows are read where they lie.
#pragma once

#include "aot/schedule/contraction/register_tile.h"

namespace ingot::schedule {

// The sums of rows x columns, as emit_register_tile gives them. Vectors of rows are multiplied by vectors of columns; what
// a window would have past the operand's ends is neither read nor multiplied. `columns`, `depth`: the blocks.
loops::TileId emit_window_tile(ContractionPoint& point, const Tile& tile, const ColumnsPanel& panel,
                               const BlockAt& columns, const BlockAt& depth);

}  // namespace ingot::schedule
