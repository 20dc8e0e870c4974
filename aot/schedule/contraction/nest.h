// The kernel of a planned contraction: its tasks and blocks, packing and register tiles, and what is done with the sums.
#pragma once

#include "aot/schedule/contraction/columns_ahead.h"

namespace ingot::schedule {

class ContractionNest {
 public:
  // What is done with finished elements of the contraction at `index` of its result.
  using Finish =
      std::function<void(const std::vector<loops::Index>& index, const loops::Expr& sum, const loops::Expr& mask)>;

  // How `finish` may be called. `is_linear`: at indices that run past their extent in the innermost dimension.
  // `is_rolled`: in a loop over a tile's rows: unrolled it is too much code. What is fetched before: `touches`, buffers with
  // an element for each of the contraction's result; to write to one, a processor reads its line; and `rows`, values of the
  // result's shape that are read where data says.
  struct Epilogue {
    bool is_linear = false;
    bool is_rolled = false;
    std::vector<loops::BufferId> touches = {};
    Values rows = {};
  };

  // `prepared`: a buffer with all columns packed (-1: none).
  ContractionNest(Step& step, const ContractionPlan& plan, Epilogue epilogue, loops::BufferId prepared = -1);

  // The whole kernel, and its scratch: after the step's inputs and outputs. `finish` gets whole sums, or with
  // depth_parts > 1 those of part `depth_part`.
  void emit(const Finish& finish);
  const loops::Index& depth_part() const { return depth_part_; }

 private:
  bool sums_up() const { return plan_.has_sums_in_memory(); }
  void declare_scratch();
  void emit_column_block(const loops::Index& block, const Finish& finish);
  void emit_row_block(const loops::Index& first, const BlockAt& columns, const BlockAt& depth, const Finish& finish);
  // Windows in place, a few places of the depth after the other.
  void emit_depth_tiles(const RowTile& rows, const BlockAt& columns, const BlockAt& depth, const Finish& finish);
  using RowsBody = std::function<void(const RowTile& tile)>;
  void for_each_row_tile(const loops::Index& first, const RowsBody& body);
  void for_each_tile_of_runs(const loops::Index& first, const RowsBody& body);
  // ... of one run, or of several that are walked together.
  void emit_tiles_of_run(const RowTile& run, const RowsBody& body);
  void emit_tiles_of_runs(const RowTile& runs, const RowsBody& body);
  // ... of windows where they lie, of one line or several. Those that reach past an end have tiles of their own.
  void emit_windows(const RowTile& lines, const RowsBody& body);
  // Where the first row of the run that is entered lies, `run` rows after the first of its block.
  loops::Index run_start(const loops::Index& run);

  void clear_sums();
  // Fetches what the epilogue of a tile touches, while its sums are made: many rows of many buffers are nothing that
  // processors foresee. Row by row beside the depth where that is long, which waits for memory less than all at once.
  bool prefetches_epilogue(const Tile& tile) const;
  void prefetch_epilogue(const Tile& tile, const BlockAt& columns);  // of the row that is entered
  // Beside a tile's products the one before it in its row of tiles is finished, a vector after the other: divisions and
  // square roots, and what is streamed, take little time there. So does packing.
  bool finishes_later(const Tile& tile, const RowsPanel& rows, const NeededDepth& depth) const;
  Beside beside(const Tile& tile, const RowsPanel& rows, const BlockAt& columns, const BlockAt& depth_block,
                const NeededDepth& depth, const Finish& finish);
  void finish_before(const Tile& tile, const loops::Index& r, const loops::Index& part, int64_t parts,
                     const BlockAt& columns, const Finish& finish);
  loops::Expr is_last_of_row(const Tile& tile, const BlockAt& columns);
  // Beside a tile, its share of what the next block of the depth has of its panel of columns.
  void prefetch_next_block(const Tile& tile, const loops::Index& first_row, const BlockAt& columns,
                           const BlockAt& depth);
  // Beside row `r` of a tile, its share of the panel of columns that is packed next.
  void prefetch_next_panel(const Tile& tile, const loops::Index& r, const BlockAt& columns, const BlockAt& depth);
  // What becomes of a register tile's sums. `is_last`: of those that are finished beside others (null: it is none of them).
  void emit_sums(const Tile& tile, loops::TileId sums, const BlockAt& columns, const loops::Expr& is_last,
                 const Finish& finish);
  // Of a rolled epilogue, from the sums in memory, in the row that is entered.
  void finish_stored(const Tile& tile, const loops::Index& r, const loops::Index& v, const BlockAt& columns,
                     const Finish& finish);
  loops::Index place_in_tile(const loops::Index& r, const loops::Index& v) const;
  void finish_sums(const BlockAt& columns, const Finish& finish);
  void enter_columns(const BlockAt& columns, const loops::Index& position);
  // Of the row that is entered.
  void finish_element(const Tile& tile, const loops::Index& v, const BlockAt& columns, const loops::Expr& sum,
                      const Finish& finish);
  // In the partial sums of the task's rows.
  loops::Index sum_at(const loops::Index& row, const loops::Index& column) const;

  ContractionPoint point_;
  loops::KernelBuilder& b_;
  const ContractionPlan& plan_;
  Panels panels_;
  ColumnsAhead ahead_;
  Epilogue epilogue_;
  loops::Index first_row_, depth_part_, first_depth_block_;
  loops::BufferId sums_ = -1, tile_ = -1;
  int64_t sums_pitch_ = 0;
};

}  // namespace ingot::schedule
