#include <algorithm>

#include "aot/base/divide.h"
#include "aot/schedule/contraction/depth_walk.h"
#include "aot/schedule/contraction/packing.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;

namespace {

constexpr int64_t kSpelledOut = 6;  // vectors of a short row that are packed without a loop

class ColumnPacking {
 public:
  ColumnPacking(ContractionPoint& point, const Panels& panels, const BlockAt& columns, const BlockAt& depth)
      : point_(point), b_(point.b()), plan_(point.plan()), panels_(panels), block_(columns), depth_(depth) {}

  void pack(const DepthSegment& segment) {
    const DepthWalk walk(point_, segment, depth_);
    if (plan_.is_along_depth()) {
      pack_along_depth(walk.merged(segment.columns_side), segment.columns_side);
    } else if (plan_.columns_are_transposed) {
      transpose(walk, segment.columns_side);
    } else if (plan_.columns_in_line) {
      pack_in_line(walk, segment.columns_side);
    } else if (plan_.columns_in_panels) {
      pack_panels(walk, segment.columns_side);
    } else {
      pack_rows(walk, segment.columns_side);
    }
  }

 private:
  // What copies one vector along the last axis of columns: where it goes, where on the axis it is, and what of it counts.
  using CopyVector = std::function<void(const Index& to, const Index& at, const Expr& mask)>;

  void store(const Index& to, const Expr& element) { b_.store(panels_.columns(), to, element); }

  // Calls `walk` with what copies; where the operand has none of the vectors, with what stores zeros.
  void copy(const ContractionSide& side, const std::function<void(const CopyVector&)>& walk) {
    const Axis& along = plan_.columns.axes.back();
    const auto zeros = [&](const Index& to, const Index&, const Expr&) {
      store(to, b_.constant_int(point_.dtype(), 0));
    };
    const auto copies = [&](const Index& to, const Index& at, const Expr& mask) {
      Pull::Scope scope(point_.step().pull());
      point_.set_axis(along, at);
      store(to, point_.element(side, mask, &along));
    };
    if (const Expr condition = point_.invariant_mask(side, along)) {
      b_.if_then(condition, [&] { walk(copies); }, [&] { walk(zeros); });
    } else {
      walk(copies);
    }
  }

  // Column after column; each is [depth].
  void pack_along_depth(const DepthWalk& walk, const ContractionSide& side) {
    b_.loop("column", 0, plan_.columns.width(), 1,
            [&](Index column) {
              point_.set_axis(plan_.columns.axes.back(), block_.start + column);
              walk.for_each_outer([&](const Index& position, const Expr& outer) {
                walk.for_each_last_vector(position, outer, [&](const Index& k, const Expr& mask) {
                  Pull::Scope scope(point_.step().pull());
                  store(panels_.column_at(column, k), point_.element(side, mask));
                });
              });
            },
            {Index(plan_.columns.extent()) - block_.start});
  }

  // Vectors that a tile's panels have, of which the first `count` columns are there.
  int64_t panel_vectors(int64_t count) const { return round_up(count, plan_.panel_columns()) / plan_.lanes; }

  // Panel after panel; each is [depth][panel columns].
  void pack_panels(const DepthWalk& walk, const ContractionSide& side) {
    for_each_panel(point_, block_, [&](const Index& column, int64_t count) {
      walk.for_each([&](const Index& k, const Expr& mask) {
        prefetch_panel(side, walk.parts().back().axis, column);
        pack_step(side, column, count, k, mask);
      });
    });
  }

  // The same, where each step of the depth is read as it lies in memory.
  void pack_in_line(const DepthWalk& walk, const ContractionSide& side) {
    walk.for_each([&](const Index& k, const Expr& mask) {
      for_each_panel(point_, block_,
                     [&](const Index& column, int64_t count) { pack_step(side, column, count, k, mask); });
    });
  }

  // What one step of the depth has of a panel.
  void pack_step(const ContractionSide& side, const Index& column, int64_t count, const Index& k, const Expr& mask) {
    copy(side, [&](const CopyVector& copy_vector) {
      b_.unrolled("v", panel_vectors(count), [&](Index v) {
        const Index i = v * plan_.lanes + b_.lane();
        const Expr edge = count < plan_.tile_columns() ? b_.in_range(i, 0, count) : nullptr;
        const Index to = panels_.column_at(column, k) + v * panels_.vector_step() + b_.lane();
        copy_vector(to, block_.start + column + i, b_.both(mask, edge));
      });
    });
  }

  void prefetch_panel(const ContractionSide& side, const Axis& depth, const Index& column) {
    const Axis& along = plan_.columns.axes.back();
    if (along.dims.empty() || side.stride(along.dims.back()) != 1) return;
    const int64_t line = point_.step().draft().target().machine.line_bytes / info(side.value->type.dtype).bytes;
    for (int64_t i = 0; i < plan_.tile_columns(); i += line) {
      point_.set_axis(along, block_.start + column + i);
      point_.prefetch_ahead(side, depth);
    }
  }

  // [depth][all columns of the block]. Vectors may run past an axis' end: what follows overwrites what they leave.
  void pack_rows(const DepthWalk& walk, const ContractionSide& side) {
    walk.for_each([&](const Index& k, const Expr& mask) { pack_row(side, k, mask, plan_.columns.cut, 0); });
  }

  // The axes of a row from `at` on; `position`: of those before it.
  void pack_row(const ContractionSide& side, const Index& k, const Expr& mask, size_t at, const Index& position) {
    const Blocked& columns = plan_.columns;
    const Axis& axis = columns.axes[at];
    const bool is_cut = static_cast<int>(at) == columns.cut;
    const int64_t count = is_cut ? columns.chunk : axis.extent;
    if (at + 1 == columns.axes.size()) {
      return copy(side, [&](const CopyVector& copy_vector) {
        copy_line(copy_vector, panels_.column_at(position * count, k), count, mask);
      });
    }
    const Index start = is_cut ? block_.start : Index(0);
    std::vector<Index> also;
    if (is_cut && columns.is_ragged()) also.push_back(Index(axis.extent) - start);
    b_.loop(
        "c", 0, count, 1,
        [&](Index i) {
          point_.set_axis(axis, start + i);
          pack_row(side, k, mask, at + 1, position * count + i);
        },
        also);
  }

  // One by one, so that vectors away from the border need no mask.
  void copy_line(const CopyVector& copy_vector, const Index& to, int64_t count, const Expr& mask) {
    const int64_t lanes = plan_.lanes;
    const auto vector_at = [&](const Index& i) {
      copy_vector(to + i + b_.lane(), i + b_.lane(), b_.both(mask, b_.in_range(i + b_.lane(), 0, count)));
    };
    if (count <= kSpelledOut * lanes) {
      for (int64_t i = 0; i < count; i += lanes) vector_at(i);
    } else {
      vector_at(0);
      b_.loop("c", lanes, (count - 1) / lanes * lanes, lanes, vector_at);
      vector_at((count - 1) / lanes * lanes);
    }
  }

  void transpose(const DepthWalk& walk, const ContractionSide& side) {
    const Axis& along = plan_.columns.axes.back();
    for_each_panel(point_, block_, [&](const Index& column, int64_t count) {
      for (int64_t v = 0; v < panel_vectors(count); ++v) {
        const int64_t first = v * plan_.lanes;
        const auto element = [&](int64_t i, const Expr& mask) {
          if (first + i >= count) return b_.constant_int(point_.dtype(), 0);
          point_.set_axis(along, block_.start + column + (first + i));
          return point_.element(side, mask);
        };
        walk.transpose_squares(element, [&](const Index& k, const Expr& vector) {
          store(panels_.column_at(column, k) + v * panels_.vector_step() + b_.lane(), vector);
        });
      }
    });
  }

  ContractionPoint& point_;
  loops::KernelBuilder& b_;
  const ContractionPlan& plan_;
  const Panels& panels_;
  const BlockAt& block_;
  const BlockAt& depth_;
};

}  // namespace

void pack_columns(ContractionPoint& point, const Panels& panels, const BlockAt& columns, const BlockAt& depth) {
  ColumnPacking packing(point, panels, columns, depth);
  for (const DepthSegment& segment : point.plan().segments) packing.pack(segment);
}

void emit_preparation(Step& step, const ContractionPlan& plan, loops::BufferId prepared) {
  ContractionPoint point(step, plan);
  Panels panels(point, prepared);
  loops::KernelBuilder& b = step.b();
  const Shape blocks{plan.columns.count(), plan.depth.count()};
  const int64_t wanted = plan.column_parts * plan.row_parts * plan.depth_parts;
  for_each_unit(b, "block", element_count(blocks), wanted, [&](Index block) {
    const std::vector<Index> at = loops::unflatten(b, block, blocks);
    const BlockAt columns = point.enter_block(plan.columns, at[0]);
    const BlockAt depth = point.enter_block(plan.depth, at[1]);
    panels.enter_prepared(at[0], at[1]);
    pack_columns(point, panels, columns, depth);
  });
}

}  // namespace ingot::schedule
