// What a contraction looks like to the emitter: the chosen candidate with its blocks, parts and packed operands.
#pragma once

#include "aot/schedule/contraction/candidate.h"
#include "aot/schedule/contraction/row_runs.h"
#include "aot/schedule/step.h"

namespace ingot::schedule {

// A part of the depth with operands of its own: where the contraction's are concatenated along the depth, which is then
// one axis in one block, each of theirs. Else there is one, all of the depth.
struct DepthSegment {
  int64_t start, end;
  ContractionSide rows_side, columns_side;
  bool rows_in_place = false;  // the register tile reads them where they lie
};

struct ContractionPlan {
  loops::Contraction space;
  const Op* op = nullptr;
  ContractionSide rows_side, columns_side;
  int columns_operand = 1;                   // of `op`
  std::vector<int> batch, rows, depth_dims;  // iteration dimensions longer than 1, outermost first
  bool has_own_rows = false;                 // the columns are a batch dimension: rows have an element for each
  Blocked columns, depth;
  std::optional<RowRuns> runs;         // rows that are read so, all of them
  Blocked row_blocks;                  // ... that have a box each
  std::vector<DepthSegment> segments;  // of a block of the depth, in order
  bool result_is_linear = false;       // over a whole block of columns: result elements follow each other

  int lanes = 1;                   // of vectors along the columns
  int depth_lanes = 1;             // ... or along the depth
  int64_t line_elements = 1;       // of a cache line, of sums and what is packed
  int64_t l1_critical_stride = 1;  // ... in such elements
  int tile_rows = 1;               // of the register tile
  int tile_vectors = 1;
  int depth_lines = 0;  // as the candidate's
  int depth_places = 0;
  Packing pack_rows = Packing::kNone;  // of those that are not read in place
  bool rows_in_tiles = false;          // packed as tiles of [depth][tile rows]; else one after the other, each [depth]
  bool rows_are_transposed = false;    // ... and they run along the depth where they lie
  Packing pack_columns = Packing::kNone;
  bool columns_are_hoisted = false;     // prepared once for all iterations of a loop
  bool columns_in_panels = false;       // packed as panels; else as rows of a whole block's width
  bool columns_are_transposed = false;  // ... and they run along the depth where they lie

  bool columns_in_line = false;  // packed a step of the depth after the other, each from its start to its end
  bool keeps_columns = false;    // as the candidate's
  bool packs_ahead = false;
  bool packs_with_first_rows = false;  // candidate.h
  bool columns_are_made = false;       // where they are multiplied, of what lies in line along the depth

  // Tasks: batch x row_parts x column_parts x depth_parts.
  int64_t row_parts = 1, rows_per_task = 1;
  int64_t column_parts = 1, column_blocks_per_task = 1;
  int64_t depth_parts = 1, depth_blocks_per_task = 1;
  int64_t row_block = 1;  // rows that stay in the second-level cache

  int64_t row_count() const { return extent(rows); }
  int64_t batch_count() const { return extent(batch); }
  int64_t extent(const std::vector<int>& dims) const;
  Shape extents(const std::vector<int>& dims) const;
  // The rows' dimensions that a box has more than one place of.
  std::vector<int> rows_of_box() const { return {rows.begin() + row_blocks.cut, rows.end()}; }
  // A pitch of at least `elements` that is an odd number of cache lines: neighbours then fall into different cache sets.
  int64_t odd_lines(int64_t elements) const;
  // So many steps, or a few more, that streams which are as many steps of `step_elements` apart fall into different sets of
  // the first-level cache.
  int64_t spread_steps(int64_t steps, int64_t step_elements) const;
  int tile_columns() const { return tile_vectors * lanes; }
  // Columns of a packed panel: a tile's; or a vector's, where it fills a cache line. So wide are the tiles of processors
  // with narrower vectors: what is packed for them is the same, and lies in a bundle once.
  int panel_columns() const { return lanes == line_elements ? lanes : tile_columns(); }
  // Rows have an element for each column, and are read where they lie (window_tile.h).
  bool has_windows_in_place() const { return has_own_rows && pack_rows == Packing::kNone; }
  // Of such rows: the operand's place in this dimension moves from row to row of a run, or along the innermost axis of
  // the depth.
  bool moves_in_line(const AxisMap& access) const;
  // ... the rows of a run whose windows reach past neither end.
  PlacesInside rows_inside() const;
  bool has_one_panel() const { return keeps_columns && packs_with_first_rows; }  // of packed columns
  bool has_sums_in_memory() const { return depth.count() > 1 || depth_lines > 0; }
  int vector_lanes() const { return std::max(lanes, depth_lanes); }
  bool is_along_depth() const { return depth_lanes > 1; }
};

ContractionPlan arrange(const Draft& draft, const ContractionProblem& problem, const Candidate& candidate);

}  // namespace ingot::schedule
