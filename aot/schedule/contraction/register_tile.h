// The innermost part of a contraction: rows x columns sums in registers, over a block of the depth.
#pragma once

#include "aot/schedule/contraction/panels.h"

namespace ingot::schedule {

// Behind a tile, the one whose columns are asked for beside it, where these are made: columns of a few lines are nothing
// that processors foresee.
inline constexpr int64_t kTilesAhead = 2;

struct Tile {
  RowTile rows;
  loops::Index column;  // first, within the block
  int64_t columns;      // less than the tile's width at the edge

  int vectors(const ContractionPlan& plan) const;
  // Which lanes of vector `v` are columns; null when all.
  loops::Expr mask(ContractionPoint& point, const loops::Index& v) const;
};

// The steps of a block of the depth whose products a tile needs, as far as triangles say (loops::Contraction).
struct NeededDepth {
  loops::Index first = 0;          // in units of kDepthUnroll steps
  std::vector<loops::Index> ends;  // it is before all of them
  bool is_part() const { return !ends.empty() || !(first == loops::Index(0)); }
};
NeededDepth needed_depth(ContractionPoint& point, const Tile& tile, const BlockAt& columns, const BlockAt& depth);

// What is done beside a tile's products: for one of its rows after the other, and in each of the parts of a row.
struct Beside {
  int64_t steps = 0;  // of the depth, from one part to the next
  int64_t parts = 1;  // of a row
  std::function<void(const loops::Index& r)> row = {};
  std::vector<std::function<void(const loops::Index& r, const loops::Index& part)>> in_part = {};
};
// So many steps as there are for each of `pieces` that are done beside a tile; 0: too few, or not known. `rows`: what the
// tile reads.
int64_t steps_beside(const ContractionPlan& plan, const Tile& tile, const RowsPanel& rows, const NeededDepth& depth,
                     int64_t pieces);

// Columns that the first tile of rows packs: where they lie until then.
struct ColumnsToPack {
  ColumnsPanel in_place;
  loops::Expr is_first;  // of the tile
};

// Emits the products; the result holds the sums, as [rows][vectors]. `rows`: one for each segment of the depth.
loops::TileId emit_register_tile(ContractionPoint& point, const Tile& tile, const std::vector<RowsPanel>& rows,
                                 const ColumnsPanel& columns, const NeededDepth& depth, const Beside& beside = {},
                                 const std::optional<ColumnsToPack>& to_pack = std::nullopt);

}  // namespace ingot::schedule
