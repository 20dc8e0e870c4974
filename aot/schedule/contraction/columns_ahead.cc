#include "aot/schedule/contraction/columns_ahead.h"

#include <algorithm>

#include "aot/base/divide.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;

namespace {

constexpr int64_t kStepsAtLeast = 256;  // of a block of the depth
constexpr int64_t kRowsAtLeast = 96;    // of a task

bool is_matrix(const OperandSide& it) {
  return it.is_plain && it.stride && it.depth_stride && std::min(std::abs(*it.stride), std::abs(*it.depth_stride)) == 1;
}

}  // namespace

bool can_pack_ahead(const ContractionProblem& problem, const BlockedCandidate& blocked, const loops::Machine& machine) {
  const auto& [c, columns, depth, runs] = blocked;
  const Orientation& way = problem.ways[c.way];
  if (machine.packed_ahead_share == 1) return false;
  if (way.columns.lie == Lie::kAcross && !machine.fetches_ahead) return false;
  if (c.pack_columns != Packing::kBlock || c.keeps_columns || c.depth_parts > 1 || runs) return false;
  if (way.lanes == 1 || way.has_own_rows || way.is_along_depth() || way.rows.is_joined) return false;
  if (!is_matrix(way.columns) || !is_from_outer_cache(problem, way.columns, machine)) return false;
  if (columns.axes.size() > 1 || depth.axes.size() > 1 || depth.is_ragged() || depth.width() < kStepsAtLeast)
    return false;
  const TaskDeal deal = deal_out(problem, blocked);
  const int64_t rows = problem.extent(way.rows.dims), last_rows = rows - (deal.rows.tasks - 1) * deal.rows.each;
  return deal.columns.each * depth.count() > 1 && last_rows >= kRowsAtLeast &&
         divide_up(last_rows, c.tile_rows) == divide_up(std::min(rows, deal.rows.each), c.tile_rows);
}

void ColumnsAhead::begin(const Index& first_row, const Index& columns, const Index& end) {
  const ContractionPlan& plan = point_.plan();
  first_row_ = first_row;
  end_ = end;
  if (plan.columns_are_transposed) return;
  panels_.enter_half(b_.modulo(columns * plan.depth.count(), 2));
  pack_columns(point_, panels_, point_.enter_block(plan.columns, columns), point_.enter_block(plan.depth, 0));
}

void ColumnsAhead::enter(const Index& columns, const Index& depth) {
  const int64_t depth_count = point_.plan().depth.count();
  const Index block = columns * depth_count + depth;
  panels_.enter_half(b_.modulo(block, 2));
  next_half_ = b_.modulo(block + 1, 2);
  next_columns_ = b_.divide(block + 1, depth_count);
  next_depth_ = b_.modulo(block + 1, depth_count);
}

int64_t ColumnsAhead::steps_of_share() const {
  const ContractionPlan& plan = point_.plan();
  const int64_t tiles = divide_up(std::min(plan.row_count(), plan.rows_per_task), plan.tile_rows);
  return round_up(divide_up(plan.depth.width(), tiles), plan.columns_are_transposed ? plan.line_elements : 1);
}

void ColumnsAhead::pack(const Tile& tile, const Index& part, int64_t parts) const {
  const ContractionPlan& plan = point_.plan();
  const Index left = end_ - next_columns_;
  const Expr has_next =
      b_.both(b_.in_range(next_columns_, 0, plan.columns.count()), b_.in_range(left, 1, b_.kernel().high(left) + 1));
  b_.if_then(has_next, [&] {
    ContractionPoint point = point_;
    const BlockAt columns = point.enter_block(plan.columns, next_columns_);
    const BlockAt depth = point.enter_block(plan.depth, next_depth_);
    const Index share = b_.divide(tile.rows.row - first_row_, plan.tile_rows) * steps_of_share();
    const Place enter = [&](const Index& column, const Index& k) {
      point.set_axis(plan.columns.axes.back(), columns.start + tile.column + column);
      point.set_axis(plan.depth.axes.back(), depth.start + share + k);
    };
    plan.columns_are_transposed ? fetch(point, tile.columns, part, parts, enter)
                                : copy(point, tile, share, part, parts, enter);
  });
}

void ColumnsAhead::fetch(ContractionPoint& point, int64_t columns, const Index& part, int64_t parts,
                         const Place& enter) const {
  const int64_t length = point.plan().line_elements, lines = steps_of_share() / length * columns;
  const Index first = part * divide_up(lines, parts);
  b_.loop("line", first, first + divide_up(lines, parts), 1,
          [&](const Index& line) {
            enter(b_.modulo(line, columns), b_.divide(line, columns) * length);
            prefetch(point);
          },
          {Index(lines)});
}

void ColumnsAhead::copy(ContractionPoint& point, const Tile& tile, const Index& share, const Index& part, int64_t parts,
                        const Place& enter) const {
  const ContractionPlan& plan = point.plan();
  Panels next = panels_;
  next.enter_half(next_half_);
  const int64_t steps = steps_of_share(), each = divide_up(steps, parts);
  const Index first = part * each;
  b_.loop("k", first, first + each, 1,
          [&](const Index& k) {
            for (int64_t i = 0; i < tile.columns; i += plan.line_elements) {
              enter(i, k + 2 * each);
              prefetch(point);
            }
            b_.unrolled("v", divide_up(tile.columns, plan.lanes), [&](const Index& v) {
              Pull::Scope scope(point.step().pull());
              enter(v * plan.lanes + b_.lane(), k);
              const Index column = point[plan.columns.axes.back().dims.back()];
              const Expr exists = plan.columns.is_ragged() ? b_.in_range(column, 0, plan.columns.extent()) : nullptr;
              const Index to = next.column_at(tile.column, share + k) + v * next.vector_step() + b_.lane();
              b_.store(next.columns(), to, point.element(plan.columns_side, exists));
            });
          },
          {Index(steps), Index(plan.depth.width()) - share});
}

void ColumnsAhead::prefetch(const ContractionPoint& point) const {
  const ContractionSide& side = point.plan().columns_side;
  b_.prefetch(point.buffer_of(side), point.flat(side));
}

}  // namespace ingot::schedule
