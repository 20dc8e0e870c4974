#include "aot/schedule/contraction/panels.h"

#include <algorithm>

#include "aot/base/divide.h"

namespace ingot::schedule {

using loops::BufferId;
using loops::Expr;
using loops::Index;

namespace {

int64_t padded_width(const ContractionPlan& plan) {
  return round_up(plan.columns.width(), plan.columns_in_panels ? plan.panel_columns() : plan.tile_columns());
}

// Steps of the depth from one panel of packed columns to the next.
int64_t panel_steps(const ContractionPlan& plan) { return plan.spread_steps(plan.depth.width(), plan.panel_columns()); }

// Elements between the packed columns of one place of the depth and the next; along the depth, from column to column.
int64_t columns_pitch(const ContractionPlan& plan) {
  if (plan.is_along_depth()) return plan.odd_lines(plan.depth.width());
  return plan.columns_in_panels ? plan.panel_columns() : plan.odd_lines(padded_width(plan) + plan.lanes);
}

int64_t block_elements(const ContractionPlan& plan) {
  if (plan.is_along_depth()) return plan.columns.width() * columns_pitch(plan);
  if (plan.has_one_panel()) return plan.tile_columns() * panel_steps(plan);
  if (plan.columns_in_panels) return padded_width(plan) * panel_steps(plan);
  return columns_pitch(plan) * plan.depth.width();
}

}  // namespace

Panels::Panels(ContractionPoint& point, BufferId prepared)
    : point_(point),
      plan_(point.plan()),
      columns_(prepared),
      is_prepared_(prepared >= 0),
      columns_pitch_(schedule::columns_pitch(plan_)) {}

int64_t Panels::prepared_elements(const ContractionPlan& plan) {
  return block_elements(plan) * plan.columns.count() * plan.depth.count() + plan.line_elements;
}

void Panels::declare_scratch() {
  loops::KernelBuilder& b = point_.b();
  if (plan_.pack_columns != Packing::kNone && !is_prepared_) {
    columns_ =
        b.scratch("columns", point_.dtype(), (has_halves() ? 2 : 1) * block_elements(plan_) + plan_.vector_lanes());
  }
  if (plan_.runs && plan_.runs->in_box()) {
    rows_ = b.scratch("box", point_.dtype(), element_count(plan_.runs->box) + plan_.vector_lanes());
  } else if (plan_.pack_rows != Packing::kNone) {
    const bool is_whole = plan_.pack_rows == Packing::kWhole;
    const int64_t rows = is_whole ? plan_.rows_per_task : plan_.row_block;
    const int64_t depth = is_whole ? plan_.depth.total() : plan_.depth.width();
    int64_t pitches = rows;
    if (plan_.rows_in_tiles) {
      // Vectors run past the rows of a tile.
      const int64_t past = (plan_.lanes - plan_.tile_rows % plan_.lanes) % plan_.lanes;
      const int64_t steps = depth + std::max<int64_t>(1, divide_up(past, plan_.tile_rows));
      rows_pitch_ = plan_.spread_steps(steps, plan_.tile_rows);
      pitches = rows + plan_.tile_rows;
    } else {
      rows_pitch_ = plan_.odd_lines(depth + plan_.lanes);
    }
    rows_ = b.scratch("rows", point_.dtype(), pitches * rows_pitch_ + 2 * plan_.lanes);
  }
}

void Panels::enter_prepared(const Index& columns, const Index& depth) {
  columns_start_ = (columns * plan_.depth.count() + depth) * block_elements(plan_);
}

bool Panels::has_halves() const { return plan_.packs_ahead && !plan_.columns_are_transposed; }

void Panels::enter_half(const Index& half) {
  if (has_halves()) columns_start_ = half * block_elements(plan_);
}

Index Panels::row_at(const Index& row, const Index& k) const {
  return row * rows_pitch_ + k * (plan_.rows_in_tiles ? plan_.tile_rows : 1);
}

Index Panels::column_at(const Index& column, const Index& k) const {
  if (plan_.is_along_depth()) return columns_start_ + column * columns_pitch_ + k;
  return columns_start_ + (plan_.columns_in_panels ? column * panel_steps(plan_) : column) + k * columns_pitch_;
}

int64_t Panels::vector_step() const {
  const bool has_panel = plan_.columns_in_panels && plan_.panel_columns() == plan_.lanes;
  return plan_.lanes * (has_panel ? panel_steps(plan_) : 1);
}

Index Panels::batch_start(const std::function<int64_t(int dim)>& stride) const {
  Index start = 0;
  for (const int d : plan_.batch) start = start + point_[d] * stride(d);
  return start;
}

RowsPanel Panels::runs_panel(const RowTile& tile, const BlockAt& depth) const {
  const RowRuns& runs = *plan_.runs;
  const std::vector<EvenRange> ranges = depth_ranges(runs, plan_.depth);
  if (runs.in_box()) return {rows_, tile.place, runs.run().step, ranges, /*is_far=*/false, tile.offsets};
  Index start = tile.place + batch_start([&](int d) { return runs.strides[d]; });
  for (int k = 0; k <= plan_.depth.cut; ++k) {
    const std::vector<int>& dims = plan_.depth.axes[k].dims;
    if (dims.empty()) continue;
    start = start + (k < plan_.depth.cut ? point_[dims.back()] : depth.start) * runs.strides[dims.back()];
  }
  return {point_.buffer_of(plan_.rows_side), start, runs.run().step, ranges, tile.offsets.empty(), tile.offsets};
}

RowsPanel Panels::rows_panel(const DepthSegment& segment, const RowTile& tile, const Index& packed_first,
                             const BlockAt& depth) const {
  if (plan_.runs) return runs_panel(tile, depth);
  const int64_t width = plan_.depth.width();
  if (!segment.rows_in_place) {
    const Index start = row_at(tile.row - packed_first, plan_.pack_rows == Packing::kWhole ? depth.position : Index(0));
    return plan_.rows_in_tiles ? RowsPanel{rows_, start, 1, {{width, plan_.tile_rows}}}
                               : RowsPanel{rows_, start, rows_pitch_, {{width, 1}}};
  }
  const ContractionSide& side = segment.rows_side;
  const int64_t row_step = *side.linear(plan_.rows, plan_.space.dims);
  const int64_t depth_step = *side.linear(plan_.depth_dims, plan_.space.dims);
  const Index start = side.constant() + tile.row * row_step + depth.position * depth_step +
                      batch_start([&](int d) { return side.stride(d); });
  return {point_.buffer_of(side), start, row_step, {{width, depth_step}}, /*is_far=*/true};
}

ColumnsPanel Panels::columns_panel(const BlockAt& columns, const Index& column, const BlockAt& depth) const {
  if (plan_.columns_are_made) return {BufferId{-1}, columns.start + column};
  if (plan_.pack_columns != Packing::kNone) {
    const Index start = column_at(plan_.has_one_panel() ? Index(0) : column, 0);
    if (plan_.is_along_depth()) return {columns_, start, 1, columns_pitch_};
    return {columns_, start, columns_pitch_, 1, vector_step()};
  }
  return columns_in_place(columns, column, depth);
}

// Nullopt where the next block lies anywhere.
std::optional<Panels::Stretch> Panels::next_block(const BlockAt& columns, const BlockAt& depth) const {
  if (is_prepared_) {
    // What is packed anew at every run has just been written.
    if (!plan_.columns_are_hoisted || plan_.columns.count() * plan_.depth.count() == 1) return std::nullopt;
    const int64_t packed = block_elements(plan_);
    return Stretch{columns_start_ + packed, packed};
  }
  if (plan_.pack_columns != Packing::kNone || plan_.batch.empty() || plan_.has_own_rows || plan_.columns_are_made)
    return std::nullopt;
  const ContractionSide& side = plan_.columns_side;
  const int64_t width = plan_.columns.total(), elements = width * plan_.depth.width();
  const int64_t all_bytes = plan_.batch_count() * width * plan_.depth.total() * info(point_.dtype()).bytes;
  if (all_bytes <= point_.step().draft().target().machine.l2_bytes) return std::nullopt;  // they stay there
  const bool is_in_line = plan_.columns.count() == 1 && side.linear(plan_.depth_dims, plan_.space.dims) == width &&
                          side.stride(plan_.batch.back()) == width * plan_.depth.total();
  if (!is_in_line) return std::nullopt;
  return Stretch{columns_in_place(columns, 0, depth).start + elements, elements};
}

ColumnsPanel Panels::columns_panel_of(const Index& row, const BlockAt& columns, const Index& column,
                                      const BlockAt& depth) const {
  ColumnsPanel panel = columns_panel(columns, column, depth);
  const int64_t rows = plan_.rows_per_task, tile_elements = plan_.tile_rows * plan_.tile_columns();
  // So many rows that to wait for columns is little beside multiplying by them.
  const bool has_many_rows = rows > tile_elements;
  if (plan_.lanes == 1 || rows <= plan_.tile_rows || has_many_rows) return panel;
  const std::optional<Stretch> next = next_block(columns, depth);
  if (!next) return panel;
  const int64_t column_elements = divide_up(next->elements, plan_.columns.width());
  panel.next_step = divide_up(tile_elements, rows);
  panel.next = next->start + column * column_elements + row * divide_up(plan_.tile_columns() * column_elements, rows);
  return panel;
}

ColumnsPanel Panels::columns_in_place(const BlockAt& columns, const Index& column, const BlockAt& depth) const {
  const ContractionSide& side = plan_.columns_side;
  const int64_t depth_step = *side.linear(plan_.depth_dims, plan_.space.dims);
  const int64_t column_step = *side.linear(plan_.columns.axes.back().dims, plan_.space.dims);
  const Index start = side.constant() + (columns.start + column) * column_step + depth.position * depth_step +
                      batch_start([&](int d) { return side.stride(d); });
  return {point_.buffer_of(side), start, depth_step, column_step, plan_.lanes};
}

Index enter_row_of(ContractionPoint& point, const RowTile& tile, const Index& line, const Index& in_line) {
  const ContractionPlan& plan = point.plan();
  if (!tile.innermost) {
    point.enter_row(tile.row + in_line);
    return tile.row + in_line;
  }
  point.set(plan.rows.back(), *tile.innermost + in_line);
  if (tile.lines == 1) return tile.row + in_line;
  point.set(plan.rows[plan.rows.size() - 2], tile.line + line);
  return tile.row + line * plan.space.dims[plan.rows.back()].extent + in_line;
}

void for_each_row_of(ContractionPoint& point, const RowTile& tile, bool is_unrolled,
                     const std::function<void(const Index&, const Index&)>& body) {
  loops::KernelBuilder& b = point.b();
  const int64_t in_line = tile.count / tile.lines;
  const auto loop = [&](int64_t count, const std::function<void(const Index&)>& each) {
    is_unrolled ? b.unrolled("r", count, each) : b.loop("r", 0, count, 1, each);
  };
  loop(tile.lines, [&](const Index& line) {
    loop(in_line, [&](const Index& r) { body(line * in_line + r, enter_row_of(point, tile, line, r)); });
  });
}

void for_each_row(loops::KernelBuilder& b, const RowsPanel& rows, int64_t count,
                  const std::function<void(const Index&, const Index&)>& body) {
  if (rows.row_offsets.empty()) {
    b.unrolled("r", count, [&](const Index& r) { body(r, rows.start + r * rows.row_step); });
  } else {
    for (int64_t r = 0; r < count; ++r) body(r, rows.start + rows.row_offsets[r]);
  }
}

void for_each_range(loops::KernelBuilder& b, const std::vector<EvenRange>& depth,
                    const std::function<void(const Index&, const Index&)>& body) {
  const auto enter = [&](const auto& self, size_t at, const Index& offset, const Index& position) -> void {
    const EvenRange& range = depth[at];
    if (at + 1 == depth.size()) return body(offset, position * range.count);
    b.loop("k", 0, range.count, 1,
           [&](const Index& i) { self(self, at + 1, offset + i * range.step, position * range.count + i); });
  };
  enter(enter, 0, 0, 0);
}

void for_each_panel(ContractionPoint& point, const BlockAt& block,
                    const std::function<void(const Index&, int64_t)>& body) {
  loops::KernelBuilder& b = point.b();
  const Blocked& columns = point.plan().columns;
  const int64_t panel = point.plan().tile_columns(), width = columns.width(), last_width = columns.last_width();
  std::vector<Index> also;
  if (columns.is_ragged()) also.push_back((Index(columns.extent()) - block.start) * columns.inner() - (panel - 1));
  b.loop("column", 0, width / panel * panel, panel, [&](Index column) { body(column, panel); }, also);
  const auto edge = [&](int64_t block_width) {
    if (block_width % panel != 0) body(block_width / panel * panel, block_width % panel);
  };
  if (!columns.is_ragged()) return edge(width);
  if (width % panel == 0 && last_width % panel == 0) return;
  const Expr is_whole = b.in_range(block.start, 0, columns.extent() - columns.chunk + 1);
  b.if_then(is_whole, [&] { edge(width); }, [&] { edge(last_width); });
}

}  // namespace ingot::schedule
