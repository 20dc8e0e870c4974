#include "aot/schedule/contraction/nest.h"

#include "aot/base/divide.h"
#include "aot/schedule/contraction/packing.h"
#include "aot/schedule/contraction/window_tile.h"

namespace ingot::schedule {

using loops::BufferId;
using loops::Expr;
using loops::Index;
using loops::ScalarOp;

namespace {
constexpr int kRegistersToFinish = 4;  // an element beside multiplying: with fewer, sums would leave theirs
}  // namespace

ContractionNest::ContractionNest(Step& step, const ContractionPlan& plan, Epilogue epilogue, BufferId prepared)
    : point_(step, plan),
      b_(step.b()),
      plan_(plan),
      panels_(point_, prepared),
      ahead_(point_, panels_),
      epilogue_(epilogue) {
  epilogue_.is_linear &= plan.result_is_linear;
}

void ContractionNest::declare_scratch() {
  panels_.declare_scratch();
  if (sums_up()) {
    sums_pitch_ = plan_.odd_lines(round_up(plan_.columns.width(), plan_.tile_columns()));
    sums_ = b_.scratch("sums", point_.sum_dtype(), sums_pitch_ * plan_.rows_per_task);
  } else if (epilogue_.is_rolled) {
    tile_ = b_.scratch("tile", point_.sum_dtype(), plan_.tile_rows * plan_.tile_columns());
  }
}

void ContractionNest::emit(const Finish& finish) {
  declare_scratch();
  b_.set_task_count(plan_.batch_count() * plan_.row_parts * plan_.column_parts * plan_.depth_parts);
  const std::vector<Index> part =
      loops::unflatten(b_, b_.task(), {plan_.batch_count(), plan_.depth_parts, plan_.row_parts, plan_.column_parts});
  const std::vector<Index> batch = loops::unflatten(b_, part[0], plan_.extents(plan_.batch));
  for (size_t k = 0; k < batch.size(); ++k) point_.set(plan_.batch[k], batch[k]);
  depth_part_ = part[1];
  first_depth_block_ = part[1] * plan_.depth_blocks_per_task;
  first_row_ = part[2] * plan_.rows_per_task;
  if (plan_.pack_rows == Packing::kWhole) pack_rows(point_, panels_, first_row_, plan_.rows_per_task, {0, 0}, true);
  const Index first_block = part[3] * plan_.column_blocks_per_task;
  if (plan_.packs_ahead) ahead_.begin(first_row_, first_block, first_block + plan_.column_blocks_per_task);
  b_.loop("block", first_block, first_block + plan_.column_blocks_per_task, 1,
          [&](Index block) { emit_column_block(block, finish); }, {Index(plan_.columns.count())});
}

void ContractionNest::emit_column_block(const Index& column_block, const Finish& finish) {
  const BlockAt columns = point_.enter_block(plan_.columns, column_block);
  if (sums_up()) clear_sums();
  b_.loop("depth", first_depth_block_, first_depth_block_ + plan_.depth_blocks_per_task, 1,
          [&](Index depth_block) {
            const BlockAt depth = point_.enter_block(plan_.depth, depth_block);
            if (panels_.is_prepared()) {
              panels_.enter_prepared(column_block, depth_block);
            } else {
              if (plan_.packs_ahead) ahead_.enter(column_block, depth_block);
              const bool is_packed_now = plan_.pack_columns != Packing::kNone && !plan_.packs_with_first_rows;
              if (is_packed_now && !panels_.has_halves()) pack_columns(point_, panels_, columns, depth);
            }
            b_.loop("rows", first_row_, first_row_ + plan_.rows_per_task, plan_.row_block,
                    [&](const Index& first) { emit_row_block(first, columns, depth, finish); },
                    {Index(plan_.row_count())});
          },
          {Index(plan_.depth.count())});
  if (sums_up()) finish_sums(columns, finish);
}

void ContractionNest::emit_row_block(const Index& first, const BlockAt& columns, const BlockAt& depth,
                                     const Finish& finish) {
  if (plan_.pack_rows == Packing::kBox) fill_box(point_, panels_, first, depth, columns);
  if (plan_.pack_rows == Packing::kBlock) pack_rows(point_, panels_, first, plan_.row_block, depth, false);
  const Index packed_first = plan_.pack_rows == Packing::kWhole ? first_row_ : first;
  const auto panels_of = [&](const RowTile& rows) {
    std::vector<RowsPanel> a;
    for (const DepthSegment& segment : plan_.segments)
      a.push_back(panels_.rows_panel(segment, rows, packed_first, depth));
    return a;
  };
  const auto multiply = [&](const Tile& tile, const std::vector<RowsPanel>& a) {
    const Index row_of_task = tile.rows.row - first_row_;
    const ColumnsPanel b = panels_.columns_panel_of(row_of_task, columns, tile.column, depth);
    std::optional<ColumnsToPack> to_pack;
    if (plan_.packs_with_first_rows)
      to_pack = {panels_.columns_in_place(columns, tile.column, depth), b_.in_range(row_of_task, 0, 1)};
    const NeededDepth needed = needed_depth(point_, tile, columns, depth);
    const loops::TileId sums = plan_.has_windows_in_place()
                                   ? emit_window_tile(point_, tile, b, columns, depth)
                                   : emit_register_tile(point_, tile, a, b, needed,
                                                        beside(tile, a[0], columns, depth, needed, finish), to_pack);
    const Expr is_last = finishes_later(tile, a[0], needed) ? is_last_of_row(tile, columns) : nullptr;
    emit_sums(tile, sums, columns, is_last, finish);
  };
  if (plan_.keeps_columns) {
    return for_each_panel(point_, columns, [&](const Index& column, int64_t width) {
      for_each_row_tile(first, [&](const RowTile& rows) {
        const Tile tile{rows, column, width};
        if (!plan_.has_one_panel()) prefetch_next_block(tile, first, columns, depth);
        multiply(tile, panels_of(rows));
      });
    });
  }
  for_each_row_tile(first, [&](const RowTile& rows) {
    if (plan_.depth_lines > 0) return emit_depth_tiles(rows, columns, depth, finish);
    const std::vector<RowsPanel> a = panels_of(rows);
    for_each_panel(point_, columns, [&](const Index& column, int64_t width) { multiply({rows, column, width}, a); });
  });
}

void ContractionNest::emit_depth_tiles(const RowTile& rows, const BlockAt& columns, const BlockAt& depth,
                                       const Finish& finish) {
  for_each_depth_tile(point_, depth, [&](const DepthPlaces& places) {
    for_each_panel(point_, columns, [&](const Index& column, int64_t width) {
      const Tile tile{rows, column, width};
      const ColumnsPanel b = panels_.columns_panel(columns, column, depth);
      emit_sums(tile, emit_window_tile(point_, tile, b, columns, places), columns, nullptr, finish);
    });
  });
}

Index ContractionNest::run_start(const Index& run) {
  const RowRuns& runs = *plan_.runs;
  Index start = runs.start;
  if (!runs.in_box()) {
    for (const int d : plan_.rows) start = start + point_[d] * runs.strides[d];
    return start;
  }
  const std::vector<int> dims = plan_.rows_of_box();
  Shape shape = plan_.extents(dims);
  if (!shape.empty()) shape[0] = plan_.row_blocks.chunk;
  const std::vector<Index> at = loops::unflatten(b_, run, shape);
  for (size_t k = 0; k < dims.size(); ++k) start = start + at[k] * runs.strides[dims[k]];
  return start;
}

void ContractionNest::for_each_tile_of_runs(const Index& first, const RowsBody& body) {
  const RowRuns& runs = *plan_.runs;
  const int64_t length = runs.stretch(plan_.tile_rows);
  b_.loop("run", 0, plan_.row_block, length,
          [&](Index run) {
            point_.enter_row(first + run);
            RowTile stretch{first + run, static_cast<int>(length), std::nullopt, run_start(run)};
            if (plan_.has_windows_in_place() && length == runs.lines * runs.run().count) {
              stretch.lines = runs.lines;
              if (plan_.rows.size() > 1) stretch.line = point_[plan_.rows[plan_.rows.size() - 2]];
              return emit_windows(stretch, body);
            }
            length > runs.run().count ? emit_tiles_of_runs(stretch, body) : emit_tiles_of_run(stretch, body);
          },
          {Index(plan_.row_count()) - first, first_row_ + plan_.rows_per_task - first});
}

void ContractionNest::emit_windows(const RowTile& lines, const RowsBody& body) {
  const int64_t length = plan_.runs->run().count, most = plan_.tile_rows / lines.lines, whole = length / most * most;
  const auto tile = [&](const Index& in_run, int64_t rows) {
    const std::optional<Index> innermost = plan_.rows.empty() ? std::nullopt : std::optional(in_run);
    body({lines.row + in_run, static_cast<int>(lines.lines * rows), innermost, 0, {}, lines.lines, lines.line});
  };
  const auto [from, to] = plan_.rows_inside();
  const int64_t first_inside = std::min(round_up(from, most), whole);
  const int64_t end_inside = std::max(first_inside, std::min(to, whole) / most * most);
  for (int64_t row = 0; row < first_inside; row += most) tile(row, most);
  b_.loop("row", first_inside, end_inside, most, [&](const Index& row) { tile(row, most); });
  for (int64_t row = end_inside; row < whole; row += most) tile(row, most);
  if (length > whole) tile(whole, length - whole);
}

void ContractionNest::emit_tiles_of_run(const RowTile& run, const RowsBody& body) {
  const int most = plan_.tile_rows, rest = run.count % most;
  const int64_t extent = plan_.rows.empty() ? 0 : plan_.space.dims[plan_.rows.back()].extent;
  std::optional<Index> innermost;
  if (run.count <= extent) innermost = run.count == extent ? Index(0) : point_[plan_.rows.back()];
  const auto tile = [&](const Index& in_run, int rows) {
    const std::optional<Index> at = innermost ? std::optional(*innermost + in_run) : std::nullopt;
    body({run.row + in_run, rows, at, run.place + in_run * plan_.runs->run().step});
  };
  b_.loop("row", 0, run.count - rest, most, [&](Index row) { tile(row, most); });
  if (rest > 0) tile(Index(run.count - rest), rest);
}

void ContractionNest::emit_tiles_of_runs(const RowTile& runs, const RowsBody& body) {
  for (int row = 0; row < runs.count; row += plan_.tile_rows) {
    RowTile tile{runs.row + row, std::min(plan_.tile_rows, runs.count - row), std::nullopt, runs.place};
    for (int r = 0; r < tile.count; ++r) tile.offsets.push_back(plan_.runs->offset(row + r));
    body(tile);
  }
}

void ContractionNest::for_each_row_tile(const Index& first, const RowsBody& body) {
  if (plan_.runs) return for_each_tile_of_runs(first, body);
  const int64_t rows = plan_.row_count(), count = plan_.row_block;
  const int most = plan_.tile_rows;
  const Index end = first_row_ + plan_.rows_per_task;
  b_.loop("row", first, first + (count - most + 1), most, [&](Index row) { body({row, most}); },
          {Index(rows - most + 1), end - (most - 1)});
  const int64_t rest = rows % most;
  if (rest == 0) return;
  const Index last = rows - rest;
  b_.if_then(b_.both(b_.in_range(last - first, 0, count), b_.in_range(last - first_row_, 0, plan_.rows_per_task)),
             [&] { body({last, static_cast<int>(rest)}); });
}

Index ContractionNest::sum_at(const Index& row, const Index& column) const {
  return (row - first_row_) * sums_pitch_ + column + point_.column_lane();
}

void ContractionNest::clear_sums() {
  b_.loop("row", 0, plan_.rows_per_task, 1, [&](Index row) {
    b_.loop("column", 0, sums_pitch_ / plan_.lanes * plan_.lanes, plan_.lanes, [&](Index column) {
      b_.store(sums_, row * sums_pitch_ + column + point_.column_lane(), b_.constant_int(point_.sum_dtype(), 0));
    });
  });
}

bool ContractionNest::prefetches_epilogue(const Tile& tile) const {
  const TensorType& result = plan_.op->result()->type;
  const loops::Machine& machine = point_.step().draft().target().machine;
  const bool reads = !epilogue_.touches.empty() || !epilogue_.rows.empty();
  return reads && !sums_up() && plan_.result_is_linear && tile.columns >= machine.line_bytes / info(result.dtype).bytes;
}

bool ContractionNest::finishes_later(const Tile& tile, const RowsPanel& rows, const NeededDepth& depth) const {
  const loops::Target& target = point_.step().draft().target();
  const int in_registers = plan_.tile_rows * plan_.tile_vectors + plan_.tile_vectors + 1;
  const bool has_registers = in_registers + kRegistersToFinish <= target.vector_registers;
  return target.machine.computes_beside_products && epilogue_.is_rolled && has_registers && !sums_up() &&
         steps_beside(plan_, tile, rows, depth, tile.rows.count) > 0;
}

Beside ContractionNest::beside(const Tile& tile, const RowsPanel& rows, const BlockAt& columns,
                               const BlockAt& depth_block, const NeededDepth& depth, const Finish& finish) {
  const auto steps = [&](int64_t parts) { return steps_beside(plan_, tile, rows, depth, tile.rows.count * parts); };
  Beside beside;
  const int64_t vectors = tile.vectors(plan_), parts = steps(vectors) > 0 ? vectors : 1;
  const bool has_steps = steps(parts) > 0;
  const bool fetches_epilogue = prefetches_epilogue(tile);
  if (fetches_epilogue || plan_.has_one_panel()) {
    beside.row = [=, this, &tile, &columns, &depth_block](const Index& r) {
      if (plan_.has_one_panel()) prefetch_next_panel(tile, r, columns, depth_block);
      if (!fetches_epilogue) return;
      Pull::Scope scope(point_.step().pull());
      enter_row_of(point_, tile.rows, 0, r);
      prefetch_epilogue(tile, columns);
    };
    if (!has_steps) b_.unrolled("r", tile.rows.count, beside.row);
  }
  if (finishes_later(tile, rows, depth)) {
    beside.in_part.push_back([=, this, &tile, &columns, &finish](const Index& r, const Index& part) {
      finish_before(tile, r, part, parts, columns, finish);
    });
  }
  if (plan_.packs_ahead && has_steps) {
    beside.in_part.push_back([=, this, &tile](const Index& r, const Index& part) {
      ahead_.pack(tile, r * parts + part, tile.rows.count * parts);
    });
  } else if (plan_.packs_ahead) {
    ahead_.pack(tile, 0, 1);
  }
  if (!beside.in_part.empty()) beside.parts = parts;
  if (beside.row || !beside.in_part.empty()) beside.steps = steps(beside.parts);
  return beside;
}

void ContractionNest::finish_before(const Tile& tile, const Index& r, const Index& part, int64_t parts,
                                    const BlockAt& columns, const Finish& finish) {
  b_.if_then(
      b_.in_range(tile.column, 0, plan_.tile_columns()), [] {},
      [&] {
        Tile before = tile;
        before.column = tile.column - plan_.tile_columns();
        enter_row_of(point_, tile.rows, 0, r);
        const int64_t count = tile.vectors(plan_) / parts;
        b_.unrolled("v", count, [&](Index v) { finish_stored(before, r, part * count + v, columns, finish); });
      });
}

Expr ContractionNest::is_last_of_row(const Tile& tile, const BlockAt& columns) {
  const int64_t panel = plan_.tile_columns();
  const Blocked& blocked = plan_.columns;
  const Index next = tile.column + panel;
  const int64_t whole_width = blocked.width() / panel * panel;
  const Expr is_last = b_.in_range(next, whole_width, whole_width + panel);
  if (!is_last || !blocked.is_ragged()) return is_last;
  const Index left = (Index(blocked.extent()) - columns.start) * blocked.inner() - next;
  const Expr has_next = b_.in_range(left, panel, b_.kernel().high(left) + 1);
  return has_next ? b_.apply(ScalarOp::kOr, {is_last, b_.apply(ScalarOp::kNot, {has_next})}) : is_last;
}

void ContractionNest::prefetch_epilogue(const Tile& tile, const BlockAt& columns) {
  const TensorType& result = plan_.op->result()->type;
  const int64_t line = point_.step().draft().target().machine.line_bytes / info(result.dtype).bytes;
  for (int64_t i = 0; i < tile.columns; i += line) {
    enter_columns(columns, tile.column + i);
    const Index at = loops::flatten(point_.result_index(), result.shape);
    for (const BufferId buffer : epilogue_.touches) b_.prefetch(buffer, at);
  }
  if (epilogue_.rows.empty()) return;
  enter_columns(columns, tile.column);
  for (const Value* row : epilogue_.rows)
    point_.step().pull().prefetch_rows(row, point_.result_index(), tile.columns * info(row->type.dtype).bytes);
}

void ContractionNest::prefetch_next_block(const Tile& tile, const Index& first_row, const BlockAt& columns,
                                          const BlockAt& depth) {
  const ColumnsPanel panel = panels_.columns_in_place(columns, tile.column, depth);
  const int64_t share = divide_up(plan_.depth.width(), divide_up(plan_.row_block, plan_.tile_rows));
  const Index first = b_.divide(tile.rows.row - first_row, plan_.tile_rows) * share + plan_.depth.width();
  b_.unrolled("k", share, [&](Index k) {
    for (int64_t i = 0; i < tile.columns; i += plan_.line_elements)
      b_.prefetch(panel.buffer, panel.start + (first + k) * panel.depth_step + i);
  });
}

void ContractionNest::prefetch_next_panel(const Tile& tile, const Index& r, const BlockAt& columns,
                                          const BlockAt& depth) {
  const int64_t lines = divide_up(plan_.tile_columns(), plan_.line_elements);
  const int64_t tiles = divide_up(plan_.rows_per_task, plan_.tile_rows);
  const int64_t share = divide_up(plan_.depth.width() * lines, tiles * tile.rows.count);
  const Index first = (b_.divide(tile.rows.row - first_row_, plan_.tile_rows) * tile.rows.count + r) * share;
  const auto fetch = [&](const ColumnsPanel& panel, const Index& start) {
    b_.unrolled("l", share, [&](Index l) {
      const Index k = b_.divide(first + l, lines), in_step = b_.modulo(first + l, lines) * plan_.line_elements;
      b_.prefetch(panel.buffer, start + k * panel.depth_step + in_step);
    });
  };
  const Index next = tile.column + plan_.tile_columns();
  const auto in_block = [&] {
    const ColumnsPanel panel = panels_.columns_in_place(columns, next, depth);
    fetch(panel, panel.start);
  };
  const auto in_next_block = [&] {
    const ColumnsPanel panel = panels_.columns_in_place(columns, 0, depth);
    fetch(panel, panel.start + plan_.depth.width() * panel.depth_step);
  };
  b_.if_then(b_.in_range(next, 0, plan_.columns.width()), in_block, in_next_block);
}

void ContractionNest::emit_sums(const Tile& tile, loops::TileId sums, const BlockAt& columns, const Expr& is_last,
                                const Finish& finish) {
  const int64_t lanes = plan_.lanes;
  const int vectors = tile.vectors(plan_);
  const auto each = [&](bool is_unrolled, const std::function<void(Index r, Index v, Index row)>& body) {
    for_each_row_of(point_, tile.rows, is_unrolled, [&](const Index& r, const Index& row) {
      b_.unrolled("v", vectors, [&](Index v) { body(r, v, row); });
    });
  };
  if (sums_up()) {
    return each(true, [&](Index r, Index v, Index row) {
      const Index at = sum_at(row, tile.column + v * lanes);
      b_.store(sums_, at, b_.apply(ScalarOp::kAdd, {b_.load(sums_, at), b_.read(sums, {r, v})}));
    });
  }
  if (!epilogue_.is_rolled) {
    return each(true,
                [&](Index r, Index v, Index) { finish_element(tile, v, columns, b_.read(sums, {r, v}), finish); });
  }
  each(true, [&](Index r, Index v, Index) { b_.store(tile_, place_in_tile(r, v), b_.read(sums, {r, v})); });
  b_.if_then(is_last,
             [&] { each(false, [&](Index r, Index v, Index) { finish_stored(tile, r, v, columns, finish); }); });
}

Index ContractionNest::place_in_tile(const Index& r, const Index& v) const {
  return r * plan_.tile_columns() + v * plan_.lanes + point_.column_lane();
}

void ContractionNest::finish_stored(const Tile& tile, const Index& r, const Index& v, const BlockAt& columns,
                                    const Finish& finish) {
  finish_element(tile, v, columns, b_.load(tile_, place_in_tile(r, v)), finish);
}

void ContractionNest::finish_sums(const BlockAt& columns, const Finish& finish) {
  b_.loop("row", first_row_, first_row_ + plan_.rows_per_task, 1,
          [&](Index row) {
            for_each_panel(point_, columns, [&](const Index& column, int64_t width) {
              const Tile tile{{row, 1}, column, width};
              point_.enter_row(row);
              b_.unrolled("v", tile.vectors(plan_), [&](Index v) {
                const Expr sum = b_.load(sums_, sum_at(row, column + v * plan_.lanes));
                finish_element(tile, v, columns, sum, finish);
              });
            });
          },
          {Index(plan_.row_count())});
}

void ContractionNest::enter_columns(const BlockAt& columns, const Index& position) {
  const Blocked& blocked = plan_.columns;
  std::vector<int> dims;
  for (size_t k = blocked.cut; k < blocked.axes.size(); ++k) {
    dims.insert(dims.end(), blocked.axes[k].dims.begin(), blocked.axes[k].dims.end());
  }
  if (dims.empty()) return;
  const Index flat = columns.start * blocked.inner() + position;
  if (epilogue_.is_linear || dims.size() == 1) return point_.set_axis({dims, 0}, flat);
  const std::vector<Index> at = loops::unflatten(b_, flat, plan_.extents(dims));
  for (size_t k = 0; k < dims.size(); ++k) point_.set(dims[k], at[k]);
}

void ContractionNest::finish_element(const Tile& tile, const Index& v, const BlockAt& columns, const Expr& sum,
                                     const Finish& finish) {
  Pull::Scope scope(point_.step().pull());
  enter_columns(columns, tile.column + v * plan_.lanes + point_.column_lane());
  finish(point_.result_index(), sum, tile.mask(point_, v));
}

}  // namespace ingot::schedule
