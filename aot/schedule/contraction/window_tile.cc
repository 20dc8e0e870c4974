#include "aot/schedule/contraction/window_tile.h"

#include <algorithm>

#include "aot/base/divide.h"
#include "aot/loops/fold.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;
using loops::ScalarOp;

namespace {

class WindowTile {
 public:
  WindowTile(ContractionPoint& point, const Tile& tile, const ColumnsPanel& panel, const BlockAt& columns)
      : point_(point),
        b_(point.b()),
        plan_(point.plan()),
        side_(plan_.rows_side),
        tile_(tile),
        panel_(panel),
        vectors_(tile.vectors(plan_)),
        sum_(b_.tile("sum", point.sum_dtype(), plan_.lanes, {tile.rows.count, vectors_})) {
    point_.set_axis(plan_.columns.axes.back(), columns.start + tile.column);
    const int in_line = tile.rows.count / tile.rows.lines;
    for (int r = 0; r < tile.rows.count; ++r) note_row(r, r / in_line, r % in_line);
  }

  // The whole block.
  loops::TileId emit(const BlockAt& depth) {
    depth_start_ = depth.start;
    clear();
    if (places_at_once(*plan_.runs, plan_.depth) == plan_.depth.width()) {
      const DepthPlaces places = all_places();
      multiply_at_once(lines_of(all_rows(), places, /*may_miss=*/true), places);
    } else {
      walk(plan_.depth.cut, 0);
    }
    return sum_;
  }

  loops::TileId emit(const DepthPlaces& places) {
    clear();
    multiply_at_once(lines_of(all_rows(), places, /*may_miss=*/true), places);
    return sum_;
  }

 private:
  using Indices = std::vector<Index>;

  struct Row {
    int in_tile;
    Indices at;  // of the rows' dimensions
  };
  using Rows = std::vector<Row>;

  // A vector of rows, and what it is multiplied with.
  struct Shared {
    Index start;
    Expr exists;                                // null: always
    std::vector<std::pair<int, int>> products;  // of a row of the tile and one of the places
  };
  struct Line {
    Indices at;  // of the operand, in the dimensions along which a line does not move
    Expr exists;
    std::vector<Shared> shared = {};
  };

  bool is_in_line(const AxisMap& access) const { return plan_.moves_in_line(access); }

  void note_row(int r, int line, int in_line) {
    enter_row_of(point_, tile_.rows, line, in_line);
    Indices at;
    for (const int d : plan_.rows) at.push_back(point_[d]);
    const auto outer = [](const Indices& it) { return Indices(it.begin(), it.empty() ? it.end() : it.end() - 1); };
    if (lines_.empty() || outer(lines_.back().back().at) != outer(at)) lines_.emplace_back();
    lines_.back().push_back({r, at});
  }

  void enter(const Row& row) {
    for (size_t k = 0; k < row.at.size(); ++k) point_.set(plan_.rows[k], row.at[k]);
  }

  void enter_place(const Indices& place) {
    for (size_t k = 0; k < place.size(); ++k) point_.set_axis(plan_.depth.axes[plan_.depth.cut + k], place[k]);
  }

  Rows all_rows() const {
    Rows rows;
    for (const Rows& line : lines_) rows.insert(rows.end(), line.begin(), line.end());
    return rows;
  }

  void clear() {
    b_.unrolled("r", tile_.rows.count, [&](Index r) {
      for_each_vector([&](const Index& v) { b_.set(sum_, {r, v}, b_.constant_int(point_.sum_dtype(), 0)); });
    });
  }

  DepthPlaces all_places() const {
    DepthPlaces places{{{}, 0}};
    for (size_t k = plan_.depth.cut; k < plan_.depth.axes.size(); ++k) {
      const bool is_cut = static_cast<int>(k) == plan_.depth.cut;
      const int64_t count = is_cut ? plan_.depth.chunk : plan_.depth.axes[k].extent;
      DepthPlaces next;
      for (const DepthPlace& place : places) {
        for (int64_t i = 0; i < count; ++i) {
          next.push_back({place.at, place.position * count + i});
          next.back().at.push_back((is_cut ? depth_start_ : Index(0)) + i);
        }
      }
      places = std::move(next);
    }
    return places;
  }

  // The block's places of depth from axis `k` on, where those before it are at `position`.
  void walk(size_t k, const Index& position, const Indices& at = {}) {
    const Axis& axis = plan_.depth.axes[k];
    const bool is_cut = static_cast<int>(k) == plan_.depth.cut;
    const int64_t count = is_cut ? plan_.depth.chunk : axis.extent;
    const Index start = is_cut ? depth_start_ : Index(0);
    if (k + 1 == plan_.depth.axes.size()) return multiply_lines(at, start, count, position * count);
    b_.loop("k", 0, count, 1, [&](Index i) {
      Indices next = at;
      next.push_back(start + i);
      walk(k + 1, position * count + i, next);
    });
  }

  // All lines at once where all of them lie within the operand, else each by itself.
  void multiply_lines(const Indices& at, const Index& start, int64_t count, const Index& position) {
    enter_place(at);
    Expr all = nullptr;
    for (const Rows& line : lines_) all = b_.both(all, exists(line));
    const auto each = [&] {
      if (lines_.size() == 1) return;
      for (const Rows& line : lines_) b_.if_then(exists(line), [&] { multiply(line, at, start, count, position); });
    };
    b_.if_then(all, [&] { multiply(all_rows(), at, start, count, position); }, each);
  }

  Expr exists(const Rows& line) {
    enter(line[0]);
    return point_.exists(side_, [&](const AxisMap& access) { return !is_in_line(access); });
  }

  // Of the innermost axis, places that all rows have are walked by a loop where they are many; the others have code of
  // their own.
  void multiply(const Rows& rows, const Indices& at, const Index& start, int64_t count, const Index& position) {
    const auto at_once = [&](const Index& from, int64_t places) {
      DepthPlaces all;
      for (int64_t k = 0; k < places; ++k) {
        all.push_back({at, position + from + k});
        all.back().at.push_back(start + from + k);
      }
      multiply_at_once(lines_of(rows, all, /*may_miss=*/false), all);
    };
    if (count == places_at_once(*plan_.runs, plan_.depth)) return at_once(0, count);
    const auto [from, to] = inside(rows, start, count);
    at_once(0, from);
    b_.loop("k", from, to, 1, [&](const Index& k) { at_once(k, 1); });
    at_once(to, count - to);
  }

  // The places of the innermost axis where every row has an element.
  PlacesInside inside(const Rows& rows, const Index& start, int64_t count) {
    PlacesInside inside{0, count};
    const Axis& axis = plan_.depth.axes.back();
    point_.set_axis(axis, start);
    for (const Row& row : rows) {
      enter(row);
      for (size_t j = 0; j < side_.accesses.size(); ++j) {
        const AxisMap& access = side_.accesses[j];
        if (access.always || !is_in_line(access)) continue;
        const Index first = point_.place(access);
        const int64_t step = axis.dims.empty() ? 0 : access.coefficients[axis.dims.back()];
        inside.narrow(step, b_.kernel().low(first), b_.kernel().high(first), side_.value->type.shape[j]);
      }
    }
    return inside;
  }

  // The vectors that rows have at these places, each once, by the operand's lines, some of which `may_miss`.
  std::vector<Line> lines_of(const Rows& rows, const DepthPlaces& places, bool may_miss) {
    std::vector<Line> lines;
    for (size_t p = 0; p < places.size(); ++p) {
      enter_place(places[p].at);
      for (const Row& row : rows) {
        enter(row);
        if (has_no_element()) continue;
        const Expr exists = point_.exists(side_, [&](const AxisMap& access) { return is_in_line(access); });
        std::vector<Shared>& shared = line_at_point(lines, may_miss).shared;
        const Index start = point_.flat(side_);
        auto same = std::ranges::find(shared, start, &Shared::start);
        if (same == shared.end() || exists) same = shared.insert(shared.end(), {start, exists, {}});
        same->products.emplace_back(row.in_tile, static_cast<int>(p));
      }
    }
    for (Line& line : lines)
      std::ranges::stable_sort(line.shared, {}, [](const Shared& it) { return it.start.constant; });
    return lines;
  }

  // As is known while the kernel is made: past an end, or in a gap of a dilated operand.
  bool has_no_element() {
    return std::ranges::any_of(side_.accesses, [&](const AxisMap& access) {
      const Expr exists = point_.exists(side_, [&](const AxisMap& other) { return &other == &access; });
      return exists && loops::constant_bits(exists) == 0;
    });
  }

  Line& line_at_point(std::vector<Line>& lines, bool may_miss) {
    Indices at;
    for (const AxisMap& access : side_.accesses) {
      if (!is_in_line(access)) at.push_back(point_.place(access));
    }
    const auto same = std::ranges::find(lines, at, &Line::at);
    if (same != lines.end()) return *same;
    const auto counts = [&](const AxisMap& access) { return !is_in_line(access); };
    return lines.emplace_back(Line{at, may_miss ? point_.exists(side_, counts) : nullptr});
  }

  // Each vector of rows is read once, and the columns of all the places stay in registers, or in memory those of the last
  // places that registers are too few for.
  void multiply_at_once(const std::vector<Line>& lines, const DepthPlaces& places) {
    if (lines.empty()) return;
    const auto in_registers = static_cast<int>(places.size()) - places_in_memory(places);
    const loops::TileId tile = b_.tile("column", point_.dtype(), plan_.lanes, {in_registers, vectors_});
    for (int k = 0; k < in_registers; ++k) {
      for_each_vector([&](const Index& v) {
        const Expr mask = has_masked_columns() ? tile_.mask(point_, v) : nullptr;
        const Expr loaded = b_.load(panel_.buffer, column_index(places[k], v), mask);
        b_.set(tile, {k, v}, b_.convert(point_.dtype(), loaded));
      });
    }
    const Columns columns = [&](int k, const Index& v) {
      return k < in_registers ? b_.read(tile, {k, v}) : b_.reload(panel_.buffer, column_index(places[k], v));
    };
    for (const Line& line : lines) {
      b_.if_then(line.exists, [&] {
        for (const Shared& it : line.shared) multiply_shared(it, columns);
      });
    }
  }

  // Beside the sums and a vector of rows.
  int places_in_memory(const DepthPlaces& places) const {
    const loops::Target& target = point_.step().draft().target();
    const bool can_be = target.multiplies_memory && plan_.lanes > 1 && is_float(point_.dtype()) &&
                        b_.kernel().buffers[panel_.buffer].dtype == point_.dtype() && !has_masked_columns();
    const int most = (target.vector_registers - 1) / vectors_ - tile_.rows.count;
    return can_be ? std::max(0, static_cast<int>(places.size()) - std::max(most, 1)) : 0;
  }

  bool has_masked_columns() const { return plan_.pack_columns == Packing::kNone && tile_.mask(point_, vectors_ - 1); }

  Index column_index(const DepthPlace& place, const Index& v) const {
    return panel_.start + place.position * panel_.depth_step + v * panel_.vector_step + b_.lane();
  }

  using Columns = std::function<Expr(int k, const Index& v)>;  // of a place and a vector

  void multiply_shared(const Shared& it, const Columns& columns) {
    for_each_vector([&](const Index& v) {
      const Expr mask = b_.both(it.exists, tile_.mask(point_, v));
      const Expr loaded = b_.load(point_.buffer_of(side_), it.start + v * plan_.lanes + b_.lane(), mask);
      const Expr left = b_.let("row", b_.convert(point_.dtype(), loaded));
      for (const auto& [r, k] : it.products) {
        b_.set(sum_, {r, v}, point_.multiply_add(left, columns(k, v), b_.read(sum_, {r, v})));
      }
    });
  }

  void for_each_vector(const std::function<void(const Index& v)>& body) { b_.unrolled("v", vectors_, body); }

  ContractionPoint& point_;
  loops::KernelBuilder& b_;
  const ContractionPlan& plan_;
  const ContractionSide& side_;
  const Tile& tile_;
  const ColumnsPanel& panel_;
  Index depth_start_ = 0;  // of the block
  int vectors_;
  loops::TileId sum_;
  std::vector<Rows> lines_;  // the tile's rows: those of one differ in the innermost dimension only
};

}  // namespace

loops::TileId emit_window_tile(ContractionPoint& point, const Tile& tile, const ColumnsPanel& panel,
                               const BlockAt& columns, const BlockAt& depth) {
  return WindowTile(point, tile, panel, columns).emit(depth);
}

loops::TileId emit_window_tile(ContractionPoint& point, const Tile& tile, const ColumnsPanel& panel,
                               const BlockAt& columns, const DepthPlaces& places) {
  return WindowTile(point, tile, panel, columns).emit(places);
}

void for_each_depth_tile(ContractionPoint& point, const BlockAt& depth,
                         const std::function<void(const DepthPlaces& places)>& body) {
  loops::KernelBuilder& b = point.b();
  const ContractionPlan& plan = point.plan();
  const Blocked& blocked = plan.depth;
  const int64_t extent = blocked.axes.back().extent, most = plan.depth_places;
  const auto [from, to] = places_inside(plan.space, plan.rows_side, plan.depth_dims.back(), last_or_none(plan.rows));
  using Indices = std::vector<Index>;
  const auto tile = [&](const Indices& outer, const Index& line_position, const Index& first, int64_t count) {
    DepthPlaces places;
    for (int line = 0; line < plan.depth_lines; ++line) {
      for (int64_t k = 0; k < count; ++k) {
        places.push_back({outer, (line_position + line) * extent + first + k});
        places.back().at.back() = outer.back() + line;
        places.back().at.push_back(first + k);
      }
    }
    body(places);
  };
  const auto line_tiles = [&](const Indices& outer, const Index& position) {
    const int64_t whole = extent / most * most, start = std::min(round_up(from, most), whole);
    const int64_t end = std::max(start, std::min(to, whole) / most * most);
    for (int64_t k = 0; k < start; k += most) tile(outer, position, k, most);
    b.loop("k", start, end, most, [&](const Index& k) { tile(outer, position, k, most); });
    for (int64_t k = end; k < whole; k += most) tile(outer, position, k, most);
    if (whole < extent) tile(outer, position, whole, extent - whole);
  };
  const auto walk = [&](const auto& self, size_t k, const Indices& outer, const Index& position) -> void {
    const bool is_cut = static_cast<int>(k) == blocked.cut, is_line = k + 2 == blocked.axes.size();
    const int64_t count = is_cut ? blocked.chunk : blocked.axes[k].extent;
    b.loop("k", 0, count, is_line ? plan.depth_lines : 1, [&](const Index& i) {
      Indices next = outer;
      next.push_back((is_cut ? depth.start : Index(0)) + i);
      is_line ? line_tiles(next, position * count + i) : self(self, k + 1, next, position * count + i);
    });
  };
  walk(walk, blocked.cut, {}, 0);
}

}  // namespace ingot::schedule
