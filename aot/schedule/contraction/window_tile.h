// The innermost part of a contraction along a batch dimension whose rows are read where they lie. Their operand may lie
// spread out: what its windows hold of gaps follows from the places of a tile's rows.
#pragma once

#include "aot/schedule/contraction/register_tile.h"

namespace ingot::schedule {

// The sums of rows x columns, as emit_register_tile gives them. Vectors of rows are multiplied by vectors of columns; what
// a window would have past the operand's ends is neither read nor multiplied. `columns`, `depth`: the blocks.
loops::TileId emit_window_tile(ContractionPoint& point, const Tile& tile, const ColumnsPanel& panel,
                               const BlockAt& columns, const BlockAt& depth);

// A place of a block of the depth: its indices along the axes from the one that is cut on, and which of all it is.
struct DepthPlace {
  std::vector<loops::Index> at;
  loops::Index position;
};
using DepthPlaces = std::vector<DepthPlace>;

// Of these places alone, all at once.
loops::TileId emit_window_tile(ContractionPoint& point, const Tile& tile, const ColumnsPanel& panel,
                               const BlockAt& columns, const DepthPlaces& places);

// A block of the depth by `depth_lines` x `depth_places`. Where windows reach past an end of the line, and at its end, the
// places are known as the kernel is made.
void for_each_depth_tile(ContractionPoint& point, const BlockAt& depth,
                         const std::function<void(const DepthPlaces& places)>& body);

}  // namespace ingot::schedule
