#include "aot/schedule/contraction/register_tile.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "aot/base/divide.h"
#include "aot/schedule/contraction/depth_tile.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;

namespace {

constexpr int64_t kDepthUnroll = 4, kDepthUnrollAtEdges = 2;
constexpr int64_t kManySums = 16;    // a tile of fewer multiplies little between two tests of its loop
constexpr int64_t kDepthAhead = 16;  // steps by which operands are prefetched where they lie
constexpr int kMinReadRows = 4;      // fewer take no longer to multiply than to read: processors prefetch well then

class RegisterTile {
 public:
  RegisterTile(ContractionPoint& point, const Tile& tile, const ColumnsPanel& columns, const NeededDepth& depth,
               const Beside& beside, const std::optional<ColumnsToPack>& to_pack)
      : point_(point),
        b_(point.b()),
        plan_(point.plan()),
        dtype_(point.dtype()),
        tile_(tile),
        columns_(columns),
        depth_(depth),
        beside_(beside),
        to_pack_(to_pack),
        vectors_(tile.vectors(plan_)),
        sum_(b_.tile("sum", point.sum_dtype(), plan_.lanes, {tile.rows.count, vectors_})),
        column_(b_.tile("column", dtype_, plan_.lanes, {vectors_})) {}

  loops::TileId emit(const std::vector<RowsPanel>& rows) {
    b_.unrolled("r", tile_.rows.count, [&](Index r) {
      b_.unrolled("v", vectors_, [&](Index v) { b_.set(sum_, {r, v}, b_.constant_int(point_.sum_dtype(), 0)); });
    });
    const auto multiply_all = [&] {
      for (size_t s = 0; s < rows.size(); ++s) multiply(rows[s], plan_.segments[s].start, plan_.segments[s].end);
    };
    if (!to_pack_) {
      multiply_all();
      return sum_;
    }
    const auto multiply_and_pack = [&] {
      packs_ = true;
      multiply_all();
      packs_ = false;
    };
    b_.if_then(to_pack_->is_first, multiply_and_pack, multiply_all);
    return sum_;
  }

 private:
  bool has_all_rows() const { return tile_.rows.count == plan_.tile_rows; }
  const loops::Machine& machine() const { return point_.step().draft().target().machine; }
  int64_t line() const { return machine().line_bytes / info(dtype_).bytes; }  // elements
  bool has_many_rows() const { return tile_.rows.count >= kMinReadRows; }

  // Whether rows read what others do a few steps later, which LLVM would keep in registers that the sums need.
  bool rows_meet(const RowsPanel& rows) const {
    std::set<int64_t> starts;
    for (int r = 0; r < tile_.rows.count; ++r) starts.insert(rows.row_offset(r));
    return std::ranges::any_of(starts, [&](int64_t start) {
      for (int64_t u = 1; u < kDepthUnroll; ++u) {
        if (starts.contains(start + u * rows.depth.back().step)) return true;
      }
      return false;
    });
  }

  // Steps `from` to `to` of the depth: of its one range, or all of several.
  void multiply(const RowsPanel& rows, int64_t from, int64_t to) {
    const bool is_only = rows.depth.size() == 1;
    for_each_range(b_, rows.depth, [&](const Index& offset, const Index& position) {
      multiply_range(rows, offset, position, is_only ? from : 0, is_only ? to : rows.depth.back().count);
    });
  }

  // Of the innermost range, whose rows begin at `offset` and whose first step is `position`.
  void multiply_range(const RowsPanel& rows, const Index& offset, const Index& position, int64_t from, int64_t to) {
    const int64_t step = rows.depth.back().step;
    const auto step_at = [&](const Index& i) { multiply_step(rows, offset + i * step, position + i); };
    const bool is_whole = has_all_rows() && tile_.columns == plan_.tile_columns();
    const bool is_small = tile_.rows.count * vectors_ < kManySums;
    const int64_t unroll = is_whole || is_small ? kDepthUnroll : kDepthUnrollAtEdges;
    const bool apart = rows_meet(rows);
    const auto steps = [&](const Index& k) {
      prefetch_next_columns(position + k, unroll);
      b_.unrolled("u", unroll, [&](Index u) { step_at(k + u); }, apart);
    };
    const bool prefetches = rows.is_far && plan_.lanes > 1 && has_all_rows() && has_many_rows() && !depth_.is_part();
    const auto stretch = [&](const Index& first, int64_t count) {
      if (!prefetches) return b_.loop("k", first, first + count, unroll, steps);
      b_.loop("k", first, first + count, kDepthAhead, [&](Index k) {
        prefetch_rows(rows, offset + k * step);
        b_.loop("k", k, k + kDepthAhead, unroll, steps);
      });
    };
    if (beside_.steps > 0) {
      b_.loop("r", 0, tile_.rows.count, 1, [&](Index r) {
        if (beside_.row) beside_.row(r);
        b_.loop("part", 0, beside_.parts, 1, [&](Index part) {
          for (const auto& work : beside_.in_part) work(r, part);
          stretch((r * beside_.parts + part) * beside_.steps + from, beside_.steps);
        });
      });
    }
    const int64_t next = from + beside_.steps * beside_.parts * tile_.rows.count;
    const int64_t rest = (to - next) % unroll;
    const int64_t ahead = prefetches ? (to - next) / kDepthAhead * kDepthAhead : 0;
    if (ahead > 0) stretch(next, ahead);
    b_.loop("k", depth_.first * kDepthUnroll + next + ahead, to - rest, unroll, steps, depth_.ends);
    b_.unrolled("u", rest, [&](Index u) { step_at(Index(to - rest) + u); }, apart);
  }

  // `offset`: of the step's rows, from their panel's start.
  void multiply_step(const RowsPanel& rows, const Index& offset, const Index& k) {
    load_columns(k);
    for_each_row(b_, rows, tile_.rows.count, [&](const Index& r, const Index& row_start) {
      const Index start = row_start + offset;
      const Expr shared = plan_.has_own_rows ? nullptr : b_.let("row", row_element(rows.buffer, start, 0));
      b_.unrolled("v", vectors_, [&](Index v) {
        const Expr row = shared ? shared : row_element(rows.buffer, start, v);
        b_.set(sum_, {r, v}, point_.multiply_add(row, b_.read(column_, {v}), b_.read(sum_, {r, v})));
      });
    });
  }

  // The columns of some steps later: each line of them.
  void prefetch_columns(const ColumnsPanel& from, const Index& start, int64_t steps) {
    if (steps == 0 || !has_many_rows() || plan_.depth.width() <= steps) return;
    const Index ahead = start + steps * from.depth_step;
    const int64_t apart = std::max(line(), from.vector_step);
    const int64_t lines = divide_up(vectors_ * from.vector_step, apart);
    b_.unrolled("l", lines, [&](Index l) { b_.prefetch(from.buffer, ahead + l * apart); });
  }

  void load_columns(const Index& k) {
    const bool in_place = packs_ || plan_.pack_columns == Packing::kNone;
    const ColumnsPanel& from = packs_ ? to_pack_->in_place : columns_;
    const Index start = from.start + k * from.depth_step;
    const int64_t packed_ahead = plan_.has_one_panel() ? 0 : machine().packed_steps_ahead;
    prefetch_columns(from, start, in_place ? kDepthAhead : packed_ahead);
    b_.unrolled("v", vectors_, [&](Index v) {
      const Expr mask = in_place ? tile_.mask(point_, v) : nullptr;
      const Index at = start + v * from.vector_step;
      b_.set(column_, {v}, b_.convert(dtype_, b_.load(from.buffer, at + b_.lane(), mask)));
      if (!packs_) return;
      const Index to = columns_.start + k * columns_.depth_step + v * columns_.vector_step;
      b_.store(columns_.buffer, to + b_.lane(), b_.read(column_, {v}));
    });
  }

  void prefetch_next_columns(const Index& k, int64_t steps) {
    for (int64_t i = 0; i < steps * columns_.next_step; i += line())
      b_.prefetch(columns_.buffer, columns_.next + k * columns_.next_step + i);
  }

  // What the columns of vector `v` are multiplied by.
  Expr row_element(loops::BufferId buffer, const Index& start, const Index& v) {
    if (!plan_.has_own_rows) return b_.splat(b_.convert(dtype_, b_.load(buffer, start)), plan_.lanes);
    return b_.convert(dtype_, b_.load(buffer, start + tile_.column + v * plan_.lanes + b_.lane()));
  }

  // What will be read after the next few steps of the depth: by the tile below, whose rows this one's first panel has
  // fetched, or by this one where rows are neighbours.
  void prefetch_rows(const RowsPanel& rows, const Index& offset) {
    const int64_t step = rows.depth.back().step;
    const Index start = rows.start + offset;
    if (std::abs(rows.row_step) >= line()) {
      const Index below = start + plan_.tile_rows * rows.row_step;
      const Expr is_first = b_.in_range(tile_.column, 0, 1);
      b_.if_then(is_first, [&] {
        b_.unrolled("r", plan_.tile_rows, [&](Index r) { b_.prefetch(rows.buffer, below + r * rows.row_step); });
      });
    } else if (std::abs(step) >= line()) {
      b_.unrolled("u", kDepthAhead, [&](Index u) { b_.prefetch(rows.buffer, start + (u + kDepthAhead) * step); });
    }
  }

  ContractionPoint& point_;
  loops::KernelBuilder& b_;
  const ContractionPlan& plan_;
  DType dtype_;
  const Tile& tile_;
  const ColumnsPanel& columns_;
  const NeededDepth& depth_;
  const Beside& beside_;
  const std::optional<ColumnsToPack>& to_pack_;
  bool packs_ = false;  // what is emitted
  int vectors_;
  loops::TileId sum_, column_;
};

// The one dimension that all of `dims` are; -1: they are none or several.
int only(const std::vector<int>& dims) { return dims.size() == 1 ? dims[0] : -1; }
int only(const Blocked& blocked) { return blocked.axes.size() == 1 ? only(blocked.axes[0].dims) : -1; }

// What is added to the offsets of triangles.
Index triangles_start(ContractionPoint& point) {
  constexpr int64_t kStartMax = int64_t{1} << 31;
  const Values& operands = point.plan().op->operands;
  if (operands.size() < 3 || point.plan().space.triangles.empty()) return 0;
  return point.b().trusted_index("start", point.b().load(point.step().input(operands[2]), 0), 0, kStartMax);
}

Index greater(loops::KernelBuilder& b, const Index& x, const Index& y) {
  const loops::Kernel& kernel = b.kernel();
  if (kernel.low(x - y) >= 0) return x;
  if (kernel.low(y - x) >= 0) return y;
  return b.let_index("first", b.apply(loops::ScalarOp::kMaximum, {b.index_value(x), b.index_value(y)}),
                     std::max(kernel.low(x), kernel.low(y)), std::max(kernel.high(x), kernel.high(y)));
}

}  // namespace

NeededDepth needed_depth(ContractionPoint& point, const Tile& tile, const BlockAt& columns, const BlockAt& depth) {
  const ContractionPlan& plan = point.plan();
  NeededDepth needed;
  if (plan.runs || plan.is_along_depth() || plan.segments.size() > 1) return needed;
  const Index column = columns.start + tile.column;
  const std::map<int, std::pair<Index, Index>> places = {
      {only(plan.rows), {tile.rows.row, tile.rows.row + (tile.rows.count - 1)}},
      {only(plan.columns), {column, column + (tile.columns - 1)}}};
  const int depth_dim = only(plan.depth);
  const Index start = triangles_start(point);
  for (const auto& [ahead, behind, constant] : plan.space.triangles) {
    const Index offset = start + constant;
    const auto first = places.find(ahead), last = places.find(behind);
    if (ahead == depth_dim && last != places.end()) {
      needed.ends.push_back(last->second.second + offset + 1 - depth.start);
    } else if (behind == depth_dim && first != places.end()) {
      needed.first =
          greater(point.b(), needed.first, point.b().divide(first->second.first - offset - depth.start, kDepthUnroll));
    } else if (first != places.end() && last != places.end()) {
      needed.ends.push_back((last->second.second + offset + 1 - first->second.first) * plan.depth.width());
    }
  }
  return needed;
}

int Tile::vectors(const ContractionPlan& plan) const { return static_cast<int>(divide_up(columns, plan.lanes)); }

Expr Tile::mask(ContractionPoint& point, const Index& v) const {
  if (columns >= point.plan().tile_columns() || point.plan().lanes == 1) return nullptr;
  return point.b().in_range(v * point.plan().lanes + point.b().lane(), 0, columns);
}

int64_t steps_beside(const ContractionPlan& plan, const Tile& tile, const RowsPanel& rows, const NeededDepth& depth,
                     int64_t pieces) {
  const bool is_whole = tile.rows.count == plan.tile_rows && tile.columns == plan.tile_columns();
  if (!is_whole || depth.is_part() || plan.runs || plan.is_along_depth() || plan.segments.size() > 1) return 0;
  const int64_t unit = rows.is_far ? kDepthAhead : kDepthUnroll;
  return plan.depth.width() / pieces / unit * unit;
}

loops::TileId emit_register_tile(ContractionPoint& point, const Tile& tile, const std::vector<RowsPanel>& rows,
                                 const ColumnsPanel& columns, const NeededDepth& depth, const Beside& beside,
                                 const std::optional<ColumnsToPack>& to_pack) {
  if (point.plan().is_along_depth()) return emit_depth_tile(point, tile, rows[0], columns);
  return RegisterTile(point, tile, columns, depth, beside, to_pack).emit(rows);
}

}  // namespace ingot::schedule
