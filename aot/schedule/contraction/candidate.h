// One way to compute a contraction, in a dozen numbers.
#pragma once

#include <string>

#include "aot/schedule/contraction/problem.h"

namespace ingot::schedule {

enum class Packing : uint8_t {
  kNone,      // read where it lies, as far as it can be
  kBlock,     // a block at a time, by each task
  kBox,       // rows: what a block reads, a block at a time, with the zeros around it (row_runs.h)
  kWhole,     // rows: all that a task has, once
  kPrepared,  // columns: all of them once, by a step before
};

struct Candidate {
  int way = 0;  // of the problem's
  int tile_rows = 1, tile_vectors = 1;
  int tile_lines = 0;  // that the tile's rows lie in, of windows in place (window_tile.h); 0: they are none
  // Of windows in place whose depth is long: so many of its lines and of the places of each are multiplied at once, between
  // sums in memory; 0: all of a block by one tile.
  int depth_lines = 0, depth_places = 0;
  int64_t depth_limit = 1, column_limit = 1;  // of a block, in elements
  int64_t row_block = 1;                      // rows that are packed, and then multiplied, at a time
  Packing pack_rows = Packing::kNone, pack_columns = Packing::kNone;
  bool keeps_columns =
      false;  // all rows of a block pass a panel of columns before the next; else panels pass a tile of rows
  bool packs_ahead = false;  // blocks of columns, each beside the multiplication by the one before it (columns_ahead.h)
  bool transposes_rows = false;  // packed rows that run along the depth become tiles of [depth][tile rows]
  int64_t row_parts = 1, column_parts = 1, depth_parts = 1;  // tasks; times the batch

  bool operator==(const Candidate&) const = default;
};

// Whether blocks of columns are packed a step of the depth after the other, each read as it lies in memory: where that is
// a quarter of a page at least.
bool packs_columns_in_line(const ContractionProblem& problem, const Candidate& candidate, const Blocked& columns,
                           const loops::Machine& machine);

// Rows for which columns that lie in line are read in blocks that processors foresee.
inline constexpr int64_t kFewRows = 64;

// Whether the first tile of rows of a task packs blocks of columns: it reads them where they lie, multiplies by them, and
// leaves them packed for the tiles below. Where these keep a panel, there is one at a time, and the next is fetched.
bool packs_with_first_rows(const ContractionProblem& problem, const Candidate& candidate, const Blocked& columns,
                           const Blocked& depth, const loops::Machine& machine);

// "lhs in rows of 12 x 32, blocks of 512 columns, rows packed by 96, columns packed, tasks 1 x 8".
std::string to_string(const ContractionProblem& problem, const Candidate& candidate);

}  // namespace ingot::schedule
