#include "aot/schedule/contraction/contraction_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "aot/base/divide.h"
#include "aot/graph/op.h"
#include "aot/schedule/contraction/tasks.h"

namespace ingot::schedule {

int64_t ContractionPlan::extent(const std::vector<int>& dims) const { return element_count(extents(dims)); }

Shape ContractionPlan::extents(const std::vector<int>& dims) const {
  Shape shape;
  for (const int d : dims) shape.push_back(space.dims[d].extent);
  return shape;
}

int64_t ContractionPlan::odd_lines(int64_t elements) const {
  return (divide_up(elements, line_elements) | 1) * line_elements;
}

int64_t ContractionPlan::spread_steps(int64_t steps, int64_t step_elements) const {
  const auto share_sets = [&] {
    const int64_t past = steps * step_elements % l1_critical_stride;
    return std::min(past, l1_critical_stride - past) < 3 * line_elements;
  };
  while (share_sets()) ++steps;
  return steps;
}

bool ContractionPlan::moves_in_line(const AxisMap& access) const {
  const auto moves = [&](const std::vector<int>& dims) {
    return !dims.empty() && access.coefficients[dims.back()] != 0;
  };
  return moves(rows) || moves(depth_dims);
}

PlacesInside ContractionPlan::rows_inside() const { return places_inside(space, rows_side, last_or_none(rows), -1); }

namespace {

// An operand's parts, by where on the depth they begin: pieces that are joined along it, or all of it.
std::map<int64_t, ContractionSide> parts_along_depth(const ContractionPlan& plan, const OperandSide& it) {
  if (!it.is_joined || plan.depth.count() > 1) return {{0, it.side}};
  const Op& op = *it.side.value->op;
  const Joint joint = *joint_of(op);
  const AccessMap map = access_map(op);
  std::map<int64_t, ContractionSide> parts;
  for (size_t k = 0; k < map.pieces.size(); ++k) {
    const Value* operand = op.operand(map.pieces[k].operand);
    if (operand->type.elements() == 0) continue;
    parts[joint.starts[k]] = {operand, compose(it.side.accesses, map.pieces[k].axes)};
  }
  return parts;
}

std::vector<DepthSegment> segments(const ContractionPlan& plan, const Orientation& way) {
  const auto rows = parts_along_depth(plan, way.rows), columns = parts_along_depth(plan, way.columns);
  std::set<int64_t> ends{plan.depth.width()};
  for (const auto* parts : {&rows, &columns}) {
    for (const auto& [start, part] : *parts) ends.insert(start);
  }
  ends.erase(0);
  std::vector<DepthSegment> segments;
  int64_t start = 0;
  for (const int64_t end : ends) {
    segments.push_back(
        {start, end, std::prev(rows.upper_bound(start))->second, std::prev(columns.upper_bound(start))->second});
    start = end;
  }
  return segments;
}

// Whether result elements of a block of columns follow each other.
bool result_is_linear(const ContractionPlan& plan) {
  const Shape& result = plan.op->result()->type.shape;
  std::vector<int> dims;
  for (size_t k = plan.columns.cut; k < plan.columns.axes.size(); ++k)
    dims.insert(dims.end(), plan.columns.axes[k].dims.begin(), plan.columns.axes[k].dims.end());
  int64_t expected = 1;
  for (size_t t = dims.size(); t-- > 0;) {
    if (result_stride(plan.space, result, dims[t]) != expected) return false;
    expected *= plan.space.dims[dims[t]].extent;
  }
  return true;
}

void split(ContractionPlan& plan, const ContractionProblem& problem, const Candidate& c) {
  const RowRuns* const runs = plan.runs ? &*plan.runs : nullptr;
  const TaskDeal deal = deal_out(problem, {c, plan.columns, plan.depth, runs});
  plan.column_parts = deal.columns.tasks;
  plan.column_blocks_per_task = deal.columns.each;
  plan.depth_parts = deal.depth.tasks;
  plan.depth_blocks_per_task = deal.depth.each;
  plan.row_parts = deal.rows.tasks;
  plan.rows_per_task = deal.rows.each;
  plan.row_block = std::min(plan.rows_per_task, plan.runs ? round_up(c.row_block, deal.row_unit) : c.row_block);
}

}  // namespace

ContractionPlan arrange(const Draft& draft, const ContractionProblem& problem, const Candidate& c) {
  const Orientation& way = problem.ways[c.way];
  ContractionPlan plan;
  plan.op = problem.op;
  plan.space = problem.space;
  plan.rows_side = way.rows.side;
  plan.columns_side = way.columns.side;
  plan.columns_operand = way.columns.operand;
  plan.batch = way.batch;
  plan.has_own_rows = way.has_own_rows;
  plan.rows = way.rows.dims;
  plan.depth_dims = way.depth;
  plan.lanes = way.lanes;
  plan.depth_lanes = way.depth_lanes;
  plan.line_elements = draft.target().machine.line_bytes / problem.accumulator_bytes();
  plan.l1_critical_stride = draft.target().machine.l1_critical_stride / problem.accumulator_bytes();
  plan.tile_rows = c.tile_rows;
  plan.tile_vectors = c.tile_vectors;
  plan.depth_lines = c.depth_lines;
  plan.depth_places = c.depth_places;
  plan.depth = cut_depth(problem, way, c.depth_limit);
  plan.columns = cut_columns(problem, way, plan.tile_columns(), c.column_limit);
  plan.segments = segments(plan, way);
  plan.result_is_linear = result_is_linear(plan);
  plan.pack_columns = c.pack_columns;
  plan.columns_are_hoisted = c.pack_columns == Packing::kPrepared && way.columns.can_be_hoisted;
  plan.columns_in_panels = plan.columns.cuts_last_axis();
  const auto can_stay = [&](const ContractionSide& side) {
    return draft.kept(side.value) && side.value->type.dtype == plan.space.factor() &&
           side.linear(plan.rows, plan.space.dims) && side.linear(plan.depth_dims, plan.space.dims) &&
           !plan.depth.is_ragged();
  };
  for (DepthSegment& segment : plan.segments) {
    segment.rows_in_place = !plan.has_own_rows && c.pack_rows == Packing::kNone && can_stay(segment.rows_side);
  }
  if (c.pack_rows == Packing::kBox) {
    plan.row_blocks = cut_rows(problem, way, c.row_block);
    plan.runs = runs_in_box(problem, way, plan.row_blocks, plan.depth, plan.columns);
  } else if (c.pack_rows == Packing::kNone && !plan.segments[0].rows_in_place && plan.segments.size() == 1) {
    plan.runs = runs_in_place(problem, way, plan.depth, c.tile_lines);
  }
  const bool all_in_place = std::ranges::all_of(plan.segments, &DepthSegment::rows_in_place);
  plan.pack_rows = plan.runs ? c.pack_rows : all_in_place ? Packing::kNone : std::max(c.pack_rows, Packing::kBlock);
  const auto runs_along_depth = [&](const ContractionSide& side) {
    return plan.lanes > 1 && !plan.depth_dims.empty() && side.stride(plan.depth_dims.back()) == 1;
  };
  plan.rows_are_transposed = c.transposes_rows && runs_along_depth(plan.rows_side);
  plan.rows_in_tiles = plan.rows_are_transposed || way.rows.lie == Lie::kAcross;
  plan.columns_are_transposed =
      way.columns.lie == Lie::kAcross && plan.columns_in_panels && runs_along_depth(plan.columns_side);
  plan.keeps_columns = c.keeps_columns;
  plan.packs_ahead = c.packs_ahead;
  plan.columns_are_made = way.columns.made.has_value();
  plan.columns_in_line = packs_columns_in_line(problem, c, plan.columns, draft.target().machine);
  plan.packs_with_first_rows =
      !plan.runs && packs_with_first_rows(problem, c, plan.columns, plan.depth, draft.target().machine);
  split(plan, problem, c);
  return plan;
}

}  // namespace ingot::schedule
