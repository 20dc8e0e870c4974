#include "aot/schedule/contraction/candidate.h"

#include <fmt/format.h>

namespace ingot::schedule {
namespace {

std::string packing_text(std::string_view what, Packing packing) {
  switch (packing) {
    case Packing::kNone:
      return fmt::format("{} where they lie", what);
    case Packing::kBlock:
      return fmt::format("{} packed by blocks", what);
    case Packing::kBox:
      return fmt::format("{} in boxes", what);
    case Packing::kWhole:
      return fmt::format("{} packed once a task", what);
    case Packing::kPrepared:
      return fmt::format("{} packed once", what);
  }
  return "";
}

std::string rows_text(const Candidate& c) {
  return c.pack_rows == Packing::kBlock ? fmt::format("rows packed by {}", c.row_block)
                                        : packing_text("rows", c.pack_rows);
}

// What vectors run along, where that is not the columns.
std::string_view along(const Orientation& way) {
  if (way.has_own_rows) return " along the batch";
  return way.depth_lanes > 1 ? " along the depth" : "";
}

}  // namespace

bool packs_columns_in_line(const ContractionProblem& problem, const Candidate& c, const Blocked& columns,
                           const loops::Machine& machine) {
  const OperandSide& it = problem.ways[c.way].columns;
  return c.keeps_columns && it.lie == Lie::kInLine && it.stride == 1 && columns.axes.size() == 1 &&
         columns.width() * problem.accumulator_bytes() >= machine.page_bytes / 4;
}

bool packs_with_first_rows(const ContractionProblem& problem, const Candidate& c, const Blocked& columns,
                           const Blocked& depth, const loops::Machine& machine) {
  const Orientation& way = problem.ways[c.way];
  const OperandSide& it = way.columns;
  const int64_t rows = problem.extent(way.rows.dims);
  const bool is_panel_tile =
      way.lanes > 1 && !way.has_own_rows && !way.is_along_depth() && c.pack_rows != Packing::kBox;
  const bool is_matrix = it.has_steps_in_line() && columns.axes.size() == 1 && depth.axes.size() == 1 &&
                         !depth.is_ragged() && !way.rows.is_joined && !it.made;
  return machine.packs_with_first_rows && c.pack_columns == Packing::kBlock && !c.packs_ahead && is_panel_tile &&
         is_matrix && problem.space.triangles.empty() && rows > c.row_parts * c.tile_rows &&
         !(c.keeps_columns && rows <= kFewRows);
}

std::string to_string(const ContractionProblem& problem, const Candidate& c) {
  const Orientation& way = problem.ways[c.way];
  const Blocked depth = cut_depth(problem, way, c.depth_limit);
  const Blocked columns = cut_columns(problem, way, static_cast<int64_t>(c.tile_vectors) * way.lanes, c.column_limit);
  std::string text = fmt::format("columns of operand {}{}, tile {}x{}, {}, {}, columns {} x {}, depth {} x {}",
                                 way.columns.operand, along(way), c.tile_rows, c.tile_vectors * way.lanes, rows_text(c),
                                 packing_text("columns", c.pack_columns), columns.count(), columns.width(),
                                 depth.count(), depth.width());
  const int64_t batch = problem.extent(way.batch);
  if (batch > 1) text += fmt::format(", batch {}", batch);
  text += fmt::format(", tasks {}x{}", c.row_parts, c.column_parts);
  if (c.depth_parts > 1) text += fmt::format("x{}", c.depth_parts);
  if (c.pack_rows == Packing::kBox) text += fmt::format(", boxes of {} rows", c.row_block);
  if (c.tile_lines > 1) text += fmt::format(", {} lines at once", c.tile_lines);
  if (c.depth_lines > 0) text += fmt::format(", {} x {} of the depth at once", c.depth_lines, c.depth_places);
  if (c.packs_ahead) text += ", each ahead";
  if (c.keeps_columns) text += ", panel by panel";
  if (c.transposes_rows) text += ", rows transposed";
  return text;
}

}  // namespace ingot::schedule
