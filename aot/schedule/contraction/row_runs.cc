#include "aot/schedule/contraction/row_runs.h"

#include <algorithm>
#include <cstdlib>

#include "aot/analysis/spread_windows.h"

namespace ingot::schedule {
namespace {

// How far a block reaches along each iteration dimension: 1 along those that it does not have.
std::vector<int64_t> reach(const ContractionProblem& problem, std::initializer_list<const Blocked*> blocks) {
  std::vector<int64_t> reach(problem.space.dims.size(), 1);
  for (const Blocked* block : blocks) {
    for (size_t k = block->cut; k < block->axes.size(); ++k) {
      const Axis& axis = block->axes[k];
      for (const int d : axis.dims) reach[d] = static_cast<int>(k) == block->cut ? block->chunk : axis.extent;
    }
  }
  return reach;
}

constexpr int64_t kLongRun = 64;        // rows, so that the rest of a tile at a run's end is little
constexpr int64_t kTilesOfStretch = 4;  // of several runs: each has code of its own

// How a block is walked through elements that lie so far apart; what goes on evenly is one range.
std::vector<EvenRange> even_ranges(const Blocked& block, const std::vector<int64_t>& strides) {
  std::vector<EvenRange> ranges;
  for (size_t k = block.cut; k < block.axes.size(); ++k) {
    const Axis& axis = block.axes[k];
    const int64_t count = static_cast<int>(k) == block.cut ? block.chunk : axis.extent;
    const int64_t step = axis.dims.empty() ? 0 : strides[axis.dims.back()];
    if (!ranges.empty() && ranges.back().step == step * count) {
      ranges.back() = {ranges.back().count * count, step};
    } else {
      ranges.push_back({count, step});
    }
  }
  return ranges;
}

constexpr int64_t kPlacesAtOnce = 8;

// Whether windows reach past the ends of a line by little enough.
bool edges_are_short(const ContractionProblem& problem, const Orientation& way, const Blocked& depth,
                     bool are_at_once) {
  const int row = last_or_none(way.rows.dims), tap = last_or_none(way.depth);
  const auto outside = [&](int along, int across) {
    const auto [from, to] = places_inside(problem.space, way.rows.side, along, across);
    return (along < 0 ? 1 : problem.space.dims[along].extent) - (to - from);
  };
  const bool cuts_line = depth.cuts_last_axis() && depth.chunks() > 1;  // edges are in some of the blocks
  return outside(row, -1) <= kEdgeRowsMax &&
         ((are_at_once && !cuts_line) || outside(tap, row) <= (cuts_line ? 0 : kEdgeRowsMax));
}

// Rows that have an element for each column: a run along their innermost dimension, each of the others by itself.
std::optional<RowRuns> windows_in_place(const ContractionProblem& problem, const Orientation& way, const Blocked& depth,
                                        int lines) {
  const ContractionSide& side = way.rows.side;
  RowRuns runs;
  runs.lines = lines;
  runs.is_dilated = side.is_dilated();
  if (!way.rows.is_kept || side.value->type.dtype != problem.space.factor() ||
      (runs.is_dilated && (depth.count() > 1 || depth.width() > kGapPlacesMax)) ||
      !edges_are_short(problem, way, depth, places_at_once(runs, depth) == depth.width()))
    return std::nullopt;
  for (size_t d = 0; d < problem.space.dims.size(); ++d) runs.strides.push_back(side.stride(static_cast<int>(d)));
  runs.start = side.constant();
  for (const int d : way.rows.dims) runs.rows.push_back({problem.space.dims[d].extent, side.stride(d)});
  if (runs.rows.empty()) runs.rows.push_back({1, 0});
  return runs;
}

}  // namespace

int64_t places_at_once(const RowRuns& runs, const Blocked& depth) {
  const int64_t width = depth.width(), innermost = depth.cuts_last_axis() ? depth.chunk : depth.axes.back().extent;
  if (runs.lines > 1 || runs.is_dilated || width <= kPlacesAtOnce) return width;
  return innermost <= kPlacesAtOnce ? innermost : 1;
}

PlacesInside places_inside(const loops::Contraction& space, const ContractionSide& side, int along, int across) {
  PlacesInside inside{0, along < 0 ? 1 : space.dims[along].extent};
  for (size_t j = 0; j < side.accesses.size(); ++j) {
    const AxisMap& access = side.accesses[j];
    const auto step = [&](int d) { return d < 0 ? 0 : access.coefficients[d]; };
    if (access.always || (step(along) == 0 && step(across) == 0)) continue;
    int64_t low = access.constant, high = access.constant;
    for (int d = 0; d < std::ssize(space.dims); ++d) {
      const int64_t reach = d == along ? 0 : step(d) * (space.dims[d].extent - 1);
      (reach < 0 ? low : high) += reach;
    }
    inside.narrow(step(along), low, high, (side.value->type.shape[j] - 1) * access.divisor + 1);
  }
  return inside;
}

int64_t RowRuns::stretch(int64_t tile_rows) const {
  int64_t count = run().count;
  if (lines > 1) return lines * count;
  if (tile_rows <= count) return count;
  for (size_t k = rows.size() - 1; k-- > 0 && count * rows[k].count <= kTilesOfStretch * tile_rows;)
    count *= rows[k].count;
  return count;
}

int64_t RowRuns::offset(int64_t row) const {
  int64_t offset = 0;
  for (size_t k = rows.size(); k-- > 0; row /= rows[k].count) offset += row % rows[k].count * rows[k].step;
  return offset;
}

std::vector<EvenRange> depth_ranges(const RowRuns& runs, const Blocked& depth) {
  return even_ranges(depth, runs.strides);
}

std::optional<RowRuns> runs_in_place(const ContractionProblem& problem, const Orientation& way, const Blocked& depth,
                                     int lines) {
  if (depth.is_ragged()) return std::nullopt;
  if (way.has_own_rows) return windows_in_place(problem, way, depth, lines);
  if (!way.rows.is_plain) return std::nullopt;
  RowRuns runs;
  const ContractionSide& side = way.rows.side;
  for (size_t d = 0; d < problem.space.dims.size(); ++d) runs.strides.push_back(side.stride(static_cast<int>(d)));
  runs.start = side.constant();
  const Blocked rows = cut_rows(problem, way, problem.extent(way.rows.dims));
  runs.rows = even_ranges(rows, runs.strides);
  // Tasks share out whole runs: a long one through all rows is cut into one for each place of their outermost dimension.
  const auto [count, step] = runs.rows[0];
  const int64_t inner = count / rows.axes[0].extent;
  if (runs.rows.size() == 1 && inner >= kLongRun) runs.rows = {{rows.axes[0].extent, inner * step}, {inner, step}};
  return runs;
}

std::optional<RowRuns> runs_in_box(const ContractionProblem& problem, const Orientation& way, const Blocked& rows,
                                   const Blocked& depth, const Blocked& columns) {
  const std::vector<AxisMap>& accesses = way.rows.side.accesses;
  if (depth.is_ragged() || rows.is_ragged() || way.rows.side.is_dilated()) return std::nullopt;
  std::vector<int64_t> reach = schedule::reach(problem, {&rows, &depth});
  if (way.has_own_rows) reach[way.columns.dims.back()] = columns.width();
  RowRuns runs;
  runs.below.assign(accesses.size(), 0);
  for (size_t j = 0; j < accesses.size(); ++j) {
    int64_t extent = 1;
    for (size_t d = 0; d < reach.size(); ++d) {
      const int64_t coefficient = accesses[j].coefficients[d];
      extent += std::abs(coefficient) * (reach[d] - 1);
      if (coefficient < 0) runs.below[j] -= coefficient * (reach[d] - 1);
    }
    runs.box.push_back(extent);
  }
  const Shape strides = row_major_strides(runs.box);
  runs.strides.assign(reach.size(), 0);
  for (size_t j = 0; j < accesses.size(); ++j) {
    runs.start += runs.below[j] * strides[j];
    for (size_t d = 0; d < reach.size(); ++d) runs.strides[d] += accesses[j].coefficients[d] * strides[j];
  }
  const int lane = way.has_own_rows ? way.columns.dims.back() : way.is_along_depth() ? way.depth.back() : -1;
  if (lane >= 0 && runs.strides[lane] != 1) return std::nullopt;
  runs.rows = even_ranges(rows, runs.strides);
  return runs;
}

Blocked cut_rows(const ContractionProblem& problem, const Orientation& way, int64_t limit) {
  Blocked rows;
  for (const int d : way.rows.dims) rows.axes.push_back({{d}, problem.space.dims[d].extent});
  if (rows.axes.empty()) rows.axes.push_back({{}, 1});
  rows.cut = static_cast<int>(rows.axes.size()) - 1;
  while (rows.cut > 0 && rows.width_of_cut() * 2 <= limit) --rows.cut;
  rows.chunk = std::min(rows.extent(), std::max<int64_t>(1, limit / rows.inner()));
  while (rows.extent() % rows.chunk != 0) --rows.chunk;
  return rows;
}

}  // namespace ingot::schedule
