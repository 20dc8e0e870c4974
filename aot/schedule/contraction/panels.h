// Where a contraction's operands lie when its register tile reads them: as they are, or packed. The one place that knows
// the layout of what is packed.
#pragma once

#include <optional>

#include "aot/schedule/contraction/contraction_point.h"

namespace ingot::schedule {

// Neighbouring rows that a register tile has.
struct RowTile {
  loops::Index row;  // first, of all rows
  int count;
  // Of a run: the index of the first in the innermost dimension, where no run leaves that, and where its element lies.
  std::optional<loops::Index> innermost = std::nullopt;
  loops::Index place = 0;
  std::vector<int64_t> offsets = {};  // of several runs: elements from the first row to each
  // As many rows of each of several lines: the first line's index in the second innermost dimension.
  int lines = 1;
  loops::Index line = 0;
};

// Where the register tile reads rows: each from its start on through the ranges of the depth.
struct RowsPanel {
  loops::BufferId buffer;
  loops::Index start;  // of the first
  int64_t row_step = 0;
  std::vector<EvenRange> depth;
  bool is_far = false;                    // in an outer cache, as far as is known
  std::vector<int64_t> row_offsets = {};  // ... where rows do not follow by `row_step`: elements from the first to each

  int64_t row_offset(int64_t row) const { return row_offsets.empty() ? row * row_step : row_offsets[row]; }
};

// ... and columns: start + column * column_step + k * depth_step; or, by vectors, start + vector * vector_step + lane. Those
// that are made have no buffer: `start` is the first one's index.
struct ColumnsPanel {
  loops::BufferId buffer;
  loops::Index start;
  int64_t depth_step = 0;
  int64_t column_step = 1;
  int64_t vector_step = 0;
  // Elements of the next block that a tile fetches at each step of the depth, from `next` on.
  int64_t next_step = 0;
  loops::Index next = 0;
};

class Panels {
 public:
  // `prepared`: a buffer with all columns packed (-1: none).
  Panels(ContractionPoint& point, loops::BufferId prepared);

  // Elements of all columns packed, and a line that vectors may reach past them: on all targets the same.
  static int64_t prepared_elements(const ContractionPlan& plan);
  void declare_scratch();  // for what is packed

  bool is_prepared() const { return is_prepared_; }
  // Which block of prepared columns is read, or written, from now on.
  void enter_prepared(const loops::Index& columns, const loops::Index& depth);
  // Of columns that are packed ahead: the block that is multiplied and the next, which take turns; half 0 or 1.
  bool has_halves() const;
  void enter_half(const loops::Index& half);

  loops::BufferId rows() const { return rows_; }
  loops::BufferId columns() const { return columns_; }
  // Where a packed element goes: rows from the first that is packed, columns and depth from the block's first.
  loops::Index row_at(const loops::Index& row, const loops::Index& k) const;
  loops::Index column_at(const loops::Index& column, const loops::Index& k) const;
  // Elements from one vector of a tile's packed columns to the next.
  int64_t vector_step() const;

  // `packed_first`: the first row that is packed.
  RowsPanel rows_panel(const DepthSegment& segment, const RowTile& tile, const loops::Index& packed_first,
                       const BlockAt& depth) const;
  ColumnsPanel columns_panel(const BlockAt& columns, const loops::Index& column, const BlockAt& depth) const;
  // ... of a tile whose first row is the task's `row`. Beside each tile the next block of prepared columns is fetched, a
  // share by each: blocks are longer than what processors foresee, and the first rows would wait for all of one.
  ColumnsPanel columns_panel_of(const loops::Index& row, const BlockAt& columns, const loops::Index& column,
                                const BlockAt& depth) const;
  // The same where the operand lies, packed or not.
  ColumnsPanel columns_in_place(const BlockAt& columns, const loops::Index& column, const BlockAt& depth) const;

 private:
  struct Stretch {
    loops::Index start;
    int64_t elements;
  };
  std::optional<Stretch> next_block(const BlockAt& columns, const BlockAt& depth) const;
  RowsPanel runs_panel(const RowTile& tile, const BlockAt& depth) const;
  // What the batch's dimensions add, with these strides of the iteration dimensions.
  loops::Index batch_start(const std::function<int64_t(int dim)>& stride) const;

  ContractionPoint& point_;
  const ContractionPlan& plan_;
  loops::BufferId rows_ = -1, columns_;
  bool is_prepared_;
  loops::Index columns_start_ = 0;
  int64_t rows_pitch_ = 0, columns_pitch_ = 0;
};

// Goes to row `in_line` of a line of a tile; of all rows, it is the one that is returned.
loops::Index enter_row_of(ContractionPoint& point, const RowTile& tile, const loops::Index& line,
                          const loops::Index& in_line);

// Goes to each row of a tile, by unrolled loops or others: body(r, row), where `row` is of all rows.
void for_each_row_of(ContractionPoint& point, const RowTile& tile, bool is_unrolled,
                     const std::function<void(const loops::Index& r, const loops::Index& row)>& body);

// The first rows of a panel; `body` has where each begins.
void for_each_row(loops::KernelBuilder& b, const RowsPanel& rows, int64_t count,
                  const std::function<void(const loops::Index& row, const loops::Index& start)>& body);

// The outer ranges of the depth, by loops; `body` has the innermost, whose first place lies `offset` elements after the
// block's first and is its place `position`.
void for_each_range(loops::KernelBuilder& b, const std::vector<EvenRange>& depth,
                    const std::function<void(const loops::Index& offset, const loops::Index& position)>& body);

// A block of columns in widths of the register tile, the last as wide as is left.
void for_each_panel(ContractionPoint& point, const BlockAt& block,
                    const std::function<void(const loops::Index& column, int64_t columns)>& body);

}  // namespace ingot::schedule
