#include <algorithm>
#include <cstdlib>

#include "aot/base/divide.h"
#include "aot/schedule/contraction/depth_walk.h"
#include "aot/schedule/contraction/packing.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;

namespace {

class RowPacking {
 public:
  RowPacking(ContractionPoint& point, const Panels& panels, const Index& first, int64_t count)
      : point_(point), b_(point.b()), plan_(point.plan()), panels_(panels), first_(first), count_(count) {}

  void pack(const DepthWalk& walk, const ContractionSide& side) {
    if (plan_.rows_are_transposed) {
      transpose(walk, side);
    } else if (plan_.rows_in_tiles) {
      pack_across(walk, side);
    } else {
      pack_by_row(walk.merged(side), side);
    }
  }

 private:
  Index end() const { return Index(plan_.row_count()) - first_; }
  void store(const Index& to, const Expr& element) { b_.store(panels_.rows(), to, element); }

  void for_each_row(const std::function<void(const Index&)>& body) {
    b_.loop("row", 0, count_, 1,
            [&](Index row) {
              point_.enter_row(first_ + row);
              body(row);
            },
            {end()});
  }

  void pack_by_row(const DepthWalk& walk, const ContractionSide& side) {
    const auto copy = [&](const Index& row, const Index& position, const Expr& outer) {
      walk.for_each_last_vector(position, outer, [&](const Index& k, const Expr& mask) {
        Pull::Scope scope(point_.step().pull());
        store(panels_.row_at(row, k), point_.element(side, mask));
      });
    };
    // Memory is walked in its own order.
    const std::vector<int>& outer_dims = walk.parts()[0].axis.dims;
    const bool rows_inside = plan_.rows.size() == 1 && walk.parts().size() > 1 && !outer_dims.empty() &&
                             std::abs(side.stride(plan_.rows[0])) < std::abs(side.stride(outer_dims.back()));
    if (rows_inside) {
      walk.for_each_outer([&](const Index& position, const Expr& mask) {
        for_each_row([&](const Index& row) { copy(row, position, mask); });
      });
    } else {
      for_each_row([&](const Index& row) {
        walk.for_each_outer([&](const Index& position, const Expr& mask) { copy(row, position, mask); });
      });
    }
  }

  const loops::Target& target() const { return point_.step().draft().target(); }

  // The tiles' pieces of a step side by side, as the operand lies. Vectors run past a tile's rows: they are masked there, or
  // overwritten by the next step. Those of the last tiles run past all rows: only there elements may be missing.
  void pack_across(const DepthWalk& walk, const ContractionSide& side) {
    const int64_t tile = plan_.tile_rows, reach = round_up(tile, plan_.lanes), rows = plan_.row_count();
    walk.for_each([&](const Index& k, const Expr& mask) {
      const auto pieces = [&](int64_t from, int64_t to, bool may_miss) {
        b_.loop("row", from, to, tile, [&](Index row) { pack_piece(walk, side, row, k, mask, may_miss); }, {end()});
      };
      if (first_.is_constant()) {
        const int64_t there = rows - first_.constant;
        const int64_t inside = std::min(there < reach ? 0 : (there - reach) / tile * tile + tile, count_);
        pieces(0, inside, false);
        return pieces(inside, count_, true);
      }
      const Expr is_inside = b_.in_range(first_, 0, rows - round_up(count_, tile) + tile - reach + 1);
      b_.if_then(is_inside, [&] { pieces(0, count_, false); }, [&] { pieces(0, count_, true); });
    });
  }

  // Whether a step of the depth ends where the next begins: processors foresee what follows.
  bool is_in_line(const ContractionSide& side, const Axis& depth) const {
    return depth.dims.empty() || std::abs(side.stride(depth.dims.back())) <= count_;
  }

  // What one step of the depth has of a tile.
  void pack_piece(const DepthWalk& walk, const ContractionSide& side, const Index& row, const Index& k,
                  const Expr& mask, bool may_miss) {
    point_.set(plan_.rows[0], first_ + row);
    if (!is_in_line(side, walk.parts().back().axis)) point_.prefetch_ahead(side, walk.parts().back().axis);
    if (const int64_t ahead = target().machine.packed_steps_ahead)
      b_.prefetch(panels_.rows(), panels_.row_at(row, k + ahead));
    for (int64_t v = 0; v < plan_.tile_rows; v += plan_.lanes) {
      Pull::Scope scope(point_.step().pull());
      const Index i = first_ + row + v + b_.lane();
      point_.set(plan_.rows[0], i);
      const Expr exists = may_miss ? b_.in_range(i, 0, plan_.row_count()) : nullptr;
      const Expr is_of_tile = target().has_masks ? b_.in_range(v + b_.lane(), 0, plan_.tile_rows) : nullptr;
      const Expr element = point_.element(side, b_.both(b_.both(mask, exists), is_of_tile));
      b_.store(panels_.rows(), panels_.row_at(row, k) + v + b_.lane(), element, is_of_tile);
    }
  }

  // Tile after tile, each from its last rows to its first: vectors run past a tile's rows and are overwritten by those of
  // the next place of the depth.
  void transpose(const DepthWalk& walk, const ContractionSide& side) {
    const int64_t tile = plan_.tile_rows;
    b_.loop("row", 0, count_, tile,
            [&](Index row) {
              for (int64_t v = (tile - 1) / plan_.lanes * plan_.lanes; v >= 0; v -= plan_.lanes) {
                const auto element = [&](int64_t i, const Expr& mask) {
                  if (v + i >= tile) return b_.constant_int(point_.dtype(), 0);
                  const Index at = first_ + row + (v + i);
                  point_.enter_row(at);
                  return point_.element(side, b_.both(mask, b_.in_range(at, 0, plan_.row_count())));
                };
                walk.transpose_squares(element, [&](const Index& k, const Expr& vector) {
                  store(panels_.row_at(row, k) + v + b_.lane(), vector);
                });
              }
            },
            {end()});
  }

  ContractionPoint& point_;
  loops::KernelBuilder& b_;
  const ContractionPlan& plan_;
  const Panels& panels_;
  Index first_;
  int64_t count_;
};

}  // namespace

void pack_rows(ContractionPoint& point, const Panels& panels, const Index& first, int64_t count, const BlockAt& depth,
               bool whole) {
  RowPacking packing(point, panels, first, count);
  for (const DepthSegment& segment : point.plan().segments) {
    if (!segment.rows_in_place) packing.pack(DepthWalk(point, segment, depth, whole), segment.rows_side);
  }
}

}  // namespace ingot::schedule
