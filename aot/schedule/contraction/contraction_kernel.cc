#include "aot/schedule/contraction/contraction_kernel.h"

#include <algorithm>

#include "aot/graph/op.h"

namespace ingot::schedule {

using loops::BufferId;
using loops::Expr;
using loops::Index;
using loops::ScalarOp;

namespace {

constexpr int64_t kDepthUnroll = 4;
constexpr int64_t kLineElements = 16;

// A pitch of at least `elements` that is an odd number of cache lines: neighbours then fall into different cache sets.
int64_t odd_lines(int64_t elements) { return ((elements + kLineElements - 1) / kLineElements | 1) * kLineElements; }

}  // namespace

int64_t ContractionKernel::block_elements(const ContractionPlan& plan) {
  const int64_t panel = plan.tile_columns();
  const int64_t padded = (plan.columns.width() + panel - 1) / panel * panel;
  const int64_t pitch = plan.columns_in_panels ? padded : odd_lines(padded + plan.lanes);
  return pitch * plan.depth.width();
}

int64_t ContractionKernel::packed_elements(const ContractionPlan& plan) {
  return block_elements(plan) * plan.columns.count() * plan.depth.count() + plan.lanes;
}

void ContractionKernel::emit_packing(Step& step, const ContractionPlan& plan, BufferId packed) {
  ContractionKernel kernel(step, plan, {}, packed);
  loops::KernelBuilder& b = step.b();
  const Shape blocks{plan.columns.count(), plan.depth.count()};
  const TaskSplit split = split_tasks(element_count(blocks), plan.column_parts * plan.row_parts * plan.depth_parts);
  b.set_task_count(split.tasks);
  const Index first = b.task() * split.each;
  b.loop("block", first, first + split.each, 1,
         [&](Index block) {
           const std::vector<Index> at = loops::unflatten(b, block, blocks);
           const BlockAt columns = kernel.enter_block(plan.columns, at[0]);
           const BlockAt depth = kernel.enter_block(plan.depth, at[1]);
           kernel.set_packed_block(at[0], at[1]);
           kernel.pack_columns(columns, depth);
         },
         {Index(element_count(blocks))});
}

void ContractionKernel::set_packed_block(const Index& columns, const Index& depth) {
  packed_start_ = (columns * plan_.depth.count() + depth) * block_elements(plan_);
}

ContractionKernel::ContractionKernel(Step& step, const ContractionPlan& plan, Epilogue epilogue, BufferId packed)
    : step_(step),
      b_(step.b()),
      plan_(plan),
      held_(loops::register_dtype(plan.space.accumulate)),
      epilogue_(epilogue),
      point_(plan.space.dims.size(), Index(0)),
      packed_columns_(packed),
      is_prepared_(packed >= 0) {
  epilogue_.is_linear &= plan.result_is_linear;
  const int64_t panel = plan.tile_columns();
  const int64_t padded = (plan.columns.width() + panel - 1) / panel * panel;
  columns_pitch_ = plan.columns_in_panels ? panel : odd_lines(padded + plan.lanes);
}

void ContractionKernel::declare_scratch() {
  const int64_t width = plan_.columns.width();
  const int64_t panel = plan_.tile_columns();
  const int64_t padded = (width + panel - 1) / panel * panel;
  if (plan_.pack_columns != Packing::kNone && !is_prepared_) {
    packed_columns_ = b_.scratch("columns", held_, block_elements(plan_) + plan_.lanes);
  }
  if (plan_.pack_rows != Packing::kNone) {
    int64_t rows = plan_.pack_rows == Packing::kWhole ? plan_.rows_each : plan_.row_block;
    const int64_t depth = plan_.pack_rows == Packing::kWhole ? plan_.depth.total() : plan_.depth.width();
    if (plan_.rows_k_major) {
      // Tiles are apart by what vectors run past their rows, and so not by whole pages.
      const int64_t past = (plan_.lanes - plan_.tile_rows % plan_.lanes) % plan_.lanes;
      rows_pitch_ = depth + std::max<int64_t>(1, (past + plan_.tile_rows - 1) / plan_.tile_rows);
      rows += plan_.tile_rows;
    } else {
      rows_pitch_ = odd_lines(depth + plan_.lanes);
    }
    packed_rows_ = b_.scratch("rows", held_, rows * rows_pitch_ + 2 * plan_.lanes);
  }
  if (plan_.depth.count() > 1) {
    sums_pitch_ = odd_lines(padded);
    sums_ = b_.scratch("sums", held_, sums_pitch_ * plan_.rows_each);
  } else if (epilogue_.is_long) {
    tile_ = b_.scratch("tile", held_, plan_.tile_rows * panel);
  }
}

void ContractionKernel::set_axis(const Axis& axis, const Index& i) {
  for (const int d : axis.dims) point_[d] = 0;
  if (!axis.dims.empty()) point_[axis.dims.back()] = i;
}

ContractionKernel::BlockAt ContractionKernel::enter_block(const Blocked& blocked, const Index& block) {
  const std::vector<Index> at = loops::unflatten(b_, block, blocked.block_shape());
  Index outer = 0;
  for (int k = 0; k < blocked.cut; ++k) {
    set_axis(blocked.axes[k], at[k]);
    outer = outer * blocked.axes[k].extent + at[k];
  }
  const Index start = at.back() * blocked.chunk;
  return {start, (outer * blocked.extent() + start) * blocked.inner()};
}

ContractionKernel::Panel ContractionKernel::rows_panel(const Stretch& stretch, const Index& row,
                                                       const Index& packed_first, const BlockAt& depth) const {
  if (!stretch.rows_in_place) {
    const Index local = row - packed_first;
    const Index k = plan_.pack_rows == Packing::kWhole ? depth.position : Index(0);
    if (!plan_.rows_k_major) return {packed_rows_, local * rows_pitch_ + k, rows_pitch_, 1};
    return {packed_rows_, local * rows_pitch_ + k * plan_.tile_rows, 1, plan_.tile_rows};
  }
  const ContractionSide& side = stretch.rows_side;
  const int64_t row_step = *side.linear(plan_.rows, plan_.space.dims);
  const int64_t depth_step = *side.linear(plan_.depth_dims, plan_.space.dims);
  Index start = side.constant() + row * row_step + depth.position * depth_step;
  for (const int d : plan_.batch) start = start + point_[d] * side.stride(d);
  return {step_.input(side.value), start, row_step, depth_step};
}

ContractionKernel::Panel ContractionKernel::columns_panel(const BlockAt& columns, const Index& column,
                                                          const BlockAt& depth) const {
  if (plan_.pack_columns != Packing::kNone) {
    const Index start = plan_.columns_in_panels ? column * plan_.depth.width() : column;
    return {packed_columns_, packed_start_ + start, 0, columns_pitch_};
  }
  const ContractionSide& side = plan_.columns_side;
  const int64_t depth_step = *side.linear(plan_.depth_dims, plan_.space.dims);
  Index start = side.constant() + columns.start + column + depth.position * depth_step;
  for (const int d : plan_.batch) start = start + point_[d] * side.stride(d);
  return {step_.input(side.value), start, 0, depth_step};
}

Expr ContractionKernel::column_mask(const Tile& tile, const Index& v) const {
  if (tile.columns >= plan_.tile_columns()) return nullptr;
  return b_.in_range(v * plan_.lanes + b_.lane(), 0, tile.columns);
}

void ContractionKernel::emit_tile(const Tile& tile, const std::vector<Panel>& a, const Panel& b, const BlockAt& columns,
                                  const Finish& finish) {
  const int lanes = plan_.lanes;
  const int vectors = static_cast<int>((tile.columns + lanes - 1) / lanes);
  const loops::TileId sum = b_.tile("sum", held_, lanes, {tile.rows, vectors});
  const loops::TileId column = b_.tile("column", held_, lanes, {vectors});
  const auto each = [&](const std::function<void(Index, Index)>& body) {
    b_.unrolled("r", tile.rows, [&](Index r) { b_.unrolled("v", vectors, [&](Index v) { body(r, v); }); });
  };
  each([&](Index r, Index v) { b_.set(sum, {r, v}, b_.constant_int(held_, 0)); });
  const auto step = [&](const Panel& from, const Index& k) {
    b_.unrolled("v", vectors, [&](Index v) {
      const Expr mask = plan_.pack_columns == Packing::kNone ? column_mask(tile, v) : nullptr;
      b_.set(column, {v},
             b_.convert(held_, b_.load(b.buffer, b.start + k * b.depth_step + v * lanes + b_.lane(), mask)));
    });
    b_.unrolled("r", tile.rows, [&](Index r) {
      const Expr row = b_.let(
          "row", b_.splat(b_.convert(held_, b_.load(from.buffer, from.start + r * from.row_step + k * from.depth_step)),
                          lanes));
      b_.unrolled("v", vectors, [&](Index v) {
        const Expr old = b_.read(sum, {r, v});
        const Expr right = b_.read(column, {v});
        b_.set(sum, {r, v},
               is_float(held_) ? b_.apply(ScalarOp::kFma, {row, right, old})
                               : b_.apply(ScalarOp::kAdd, {old, b_.apply(ScalarOp::kMultiply, {row, right})}));
      });
    });
  };
  for (size_t s = 0; s < a.size(); ++s) {
    const int64_t start = plan_.stretches[s].start, end = plan_.stretches[s].end;
    const int64_t rest = (end - start) % kDepthUnroll;
    b_.loop("k", start, end - rest, kDepthUnroll,
            [&](Index k) { b_.unrolled("u", kDepthUnroll, [&](Index u) { step(a[s], k + u); }); });
    b_.unrolled("u", rest, [&](Index u) { step(a[s], Index(end - rest) + u); });
  }

  if (plan_.depth.count() > 1) {
    // The sum of this block joins those before it.
    each([&](Index r, Index v) {
      const Index at = (tile.row - first_row_ + r) * sums_pitch_ + tile.column + v * lanes + b_.lane();
      b_.store(sums_, at, b_.apply(ScalarOp::kAdd, {b_.load(sums_, at), b_.read(sum, {r, v})}));
    });
    return;
  }
  if (!epilogue_.is_long) {
    return each([&](Index r, Index v) { emit_finish(tile, r, v, columns, b_.read(sum, {r, v}), finish); });
  }
  const auto place = [&](const Index& r, const Index& v) { return r * plan_.tile_columns() + v * lanes + b_.lane(); };
  each([&](Index r, Index v) { b_.store(tile_, place(r, v), b_.read(sum, {r, v})); });
  b_.loop("r", 0, tile.rows, 1, [&](Index r) {
    b_.unrolled("v", vectors, [&](Index v) { emit_finish(tile, r, v, columns, b_.load(tile_, place(r, v)), finish); });
  });
}

void ContractionKernel::emit_finish(const Tile& tile, const Index& r, const Index& v, const BlockAt& columns,
                                    const Expr& sum, const Finish& finish) {
  Pull::Scope scope(step_.pull());
  const std::vector<Index> row = loops::unflatten(b_, tile.row + r, plan_.extents(plan_.rows));
  for (size_t k = 0; k < row.size(); ++k) point_[plan_.rows[k]] = row[k];
  const Index position = tile.column + v * plan_.lanes + b_.lane();
  const Blocked& blocked = plan_.columns;
  std::vector<int> dims;
  for (size_t k = blocked.cut; k < blocked.axes.size(); ++k) {
    dims.insert(dims.end(), blocked.axes[k].dims.begin(), blocked.axes[k].dims.end());
  }
  if (!dims.empty()) {
    const Index flat = columns.start * blocked.inner() + position;
    if (epilogue_.is_linear || dims.size() == 1) {
      for (const int d : dims) point_[d] = 0;
      point_[dims.back()] = flat;
    } else {
      const std::vector<Index> at = loops::unflatten(b_, flat, plan_.extents(dims));
      for (size_t k = 0; k < dims.size(); ++k) point_[dims[k]] = at[k];
    }
  }
  std::vector<Index> index;
  for (const AxisMap& access : plan_.space.out) {
    Index at = access.constant;
    for (size_t d = 0; d < point_.size(); ++d) at = at + point_[d] * access.coefficients[d];
    index.push_back(at);
  }
  finish(index, sum, column_mask(tile, v));
}

void ContractionKernel::emit_rows(const std::function<void(const Index&, int)>& body, const Index& first,
                                  int64_t count) {
  const int64_t rows = plan_.row_count();
  const int most = plan_.tile_rows;
  const Index end = first_row_ + plan_.rows_each;
  b_.loop("row", first, first + (count - most + 1), most, [&](Index row) { body(row, most); },
          {Index(rows - most + 1), end - (most - 1)});
  const int64_t rest = rows % most;
  if (rest == 0) return;
  const Index last = rows - rest;
  b_.if_then(b_.both(b_.in_range(last - first, 0, count), b_.in_range(last - first_row_, 0, plan_.rows_each)),
             [&] { body(last, static_cast<int>(rest)); });
}

void ContractionKernel::emit_panels(const BlockAt& block, const std::function<void(const Index&, int64_t)>& body) {
  const Blocked& columns = plan_.columns;
  const int64_t panel = plan_.tile_columns();
  const int64_t width = columns.width();
  const int64_t last_width = columns.is_ragged() ? columns.extent() % columns.chunk * columns.inner() : width;
  std::vector<Index> also;
  if (columns.is_ragged()) also.push_back((Index(columns.extent()) - block.start) * columns.inner() - (panel - 1));
  b_.loop("column", 0, width / panel * panel, panel, [&](Index column) { body(column, panel); }, also);
  const auto edge = [&](int64_t block_width) {
    if (block_width % panel != 0) body(block_width / panel * panel, block_width % panel);
  };
  if (!columns.is_ragged()) return edge(width);
  if (width % panel == 0 && last_width % panel == 0) return;
  const Expr is_whole = b_.in_range(block.start, 0, columns.extent() - columns.chunk + 1);
  b_.if_then(is_whole, [&] { edge(width); }, [&] { edge(last_width); });
}

void ContractionKernel::emit_column_block(const Index& column_block, const Finish& finish) {
  const BlockAt columns = enter_block(plan_.columns, column_block);
  const Index end_row = first_row_ + plan_.rows_each;
  const auto for_row_blocks = [&](const std::function<void(const Index&)>& body) {
    b_.loop("rows", first_row_, end_row, plan_.row_block, body, {Index(plan_.row_count())});
  };
  const bool sums_up = plan_.depth.count() > 1;
  if (sums_up) {
    b_.loop("row", 0, plan_.rows_each, 1, [&](Index row) {
      b_.loop("column", 0, sums_pitch_ / plan_.lanes * plan_.lanes, plan_.lanes, [&](Index column) {
        b_.store(sums_, row * sums_pitch_ + column + b_.lane(), b_.constant_int(held_, 0));
      });
    });
  }
  b_.loop("depth", first_depth_block_, first_depth_block_ + plan_.depth_blocks_each, 1,
          [&](Index depth_block) {
            const BlockAt depth = enter_block(plan_.depth, depth_block);
            if (is_prepared_) {
              set_packed_block(column_block, depth_block);
            } else if (plan_.pack_columns != Packing::kNone) {
              pack_columns(columns, depth);
            }
            for_row_blocks([&](const Index& block_row) {
              if (plan_.pack_rows == Packing::kBlock) pack_rows(block_row, plan_.row_block, depth, false);
              const Index packed_first = plan_.pack_rows == Packing::kWhole ? first_row_ : block_row;
              emit_rows(
                  [&](const Index& row, int rows) {
                    std::vector<Panel> a;
                    for (const Stretch& stretch : plan_.stretches)
                      a.push_back(rows_panel(stretch, row, packed_first, depth));
                    emit_panels(columns, [&](const Index& column, int64_t width) {
                      emit_tile({row, rows, column, width}, a, columns_panel(columns, column, depth), columns, finish);
                    });
                  },
                  block_row, plan_.row_block);
            });
          },
          {Index(plan_.depth.count())});
  if (!sums_up) return;
  b_.loop("row", first_row_, end_row, 1,
          [&](Index row) {
            emit_panels(columns, [&](const Index& column, int64_t width) {
              const Tile tile{row, 1, column, width};
              b_.unrolled("v", (width + plan_.lanes - 1) / plan_.lanes, [&](Index v) {
                const Index at = (row - first_row_) * sums_pitch_ + column + v * plan_.lanes + b_.lane();
                emit_finish(tile, 0, v, columns, b_.load(sums_, at), finish);
              });
            });
          },
          {Index(plan_.row_count())});
}

void ContractionKernel::emit(const Finish& finish) {
  declare_scratch();
  b_.set_task_count(plan_.batch_count() * plan_.row_parts * plan_.column_parts * plan_.depth_parts);
  const std::vector<Index> part =
      loops::unflatten(b_, b_.task(), {plan_.batch_count(), plan_.depth_parts, plan_.row_parts, plan_.column_parts});
  const std::vector<Index> batch = loops::unflatten(b_, part[0], plan_.extents(plan_.batch));
  for (size_t k = 0; k < batch.size(); ++k) point_[plan_.batch[k]] = batch[k];
  depth_part_ = part[1];
  first_depth_block_ = part[1] * plan_.depth_blocks_each;
  first_row_ = part[2] * plan_.rows_each;
  if (plan_.pack_rows == Packing::kWhole) pack_rows(first_row_, plan_.rows_each, {0, 0}, true);
  const Index first_block = part[3] * plan_.column_blocks_each;
  b_.loop("block", first_block, first_block + plan_.column_blocks_each, 1,
          [&](Index block) { emit_column_block(block, finish); }, {Index(plan_.columns.count())});
}

}  // namespace ingot::schedule
