// Columns that are packed ahead: each block while the one before it is multiplied, a share of it beside each tile. Beside
// multiplying, processors have time to copy, and to wait for memory. What has to be transposed is only fetched ahead.
#pragma once

#include "aot/schedule/contraction/packing.h"
#include "aot/schedule/contraction/register_tile.h"
#include "aot/schedule/contraction/tasks.h"

namespace ingot::schedule {

// Whether columns can be, and multiplying has time for it: a matrix from an outer cache, in even and long blocks of the
// depth, that every task has as many tiles of rows for, and many.
bool can_pack_ahead(const ContractionProblem& problem, const BlockedCandidate& blocked, const loops::Machine& machine);

class ColumnsAhead {
 public:
  // `panels` is led to the block that is multiplied.
  ColumnsAhead(ContractionPoint& point, Panels& panels) : point_(point), b_(point.b()), panels_(panels) {}

  // A task of rows from `first_row` and columns before block `end` begins at block `columns`, which is packed at once.
  void begin(const loops::Index& first_row, const loops::Index& columns, const loops::Index& end);
  void enter(const loops::Index& columns, const loops::Index& depth);
  // Part `part` of `parts` of a tile's share of the next block.
  void pack(const Tile& tile, const loops::Index& part, int64_t parts) const;

 private:
  using Place =
      std::function<void(const loops::Index& column, const loops::Index& k)>;  // goes there, from a share's first
  void copy(ContractionPoint& point, const Tile& tile, const loops::Index& share, const loops::Index& part,
            int64_t parts, const Place& enter) const;
  void fetch(ContractionPoint& point, int64_t columns, const loops::Index& part, int64_t parts,
             const Place& enter) const;
  void prefetch(const ContractionPoint& point) const;
  int64_t steps_of_share() const;

  ContractionPoint& point_;
  loops::KernelBuilder& b_;
  Panels& panels_;
  loops::Index first_row_, end_, next_half_, next_columns_, next_depth_;
};

}  // namespace ingot::schedule
