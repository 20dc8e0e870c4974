#include "aot/schedule/contraction/tasks.h"

#include <algorithm>

#include "aot/base/divide.h"

namespace ingot::schedule {
namespace {

// Elements of the first `count` blocks.
int64_t elements_before(const Blocked& blocked, int64_t count) {
  return count / blocked.chunks() * blocked.width_of_cut() + count % blocked.chunks() * blocked.width();
}

// Elements of each part.
std::vector<double> sizes(const Blocked& blocked, const TaskSplit& split) {
  std::vector<double> sizes;
  const auto before = [&](int64_t part) {
    return elements_before(blocked, std::min(part * split.each, blocked.count()));
  };
  for (int64_t part = 0; part < split.tasks; ++part)
    sizes.push_back(static_cast<double>(before(part + 1) - before(part)));
  return sizes;
}

}  // namespace

TaskDeal deal_out(const ContractionProblem& problem, const BlockedCandidate& blocked) {
  const auto& [c, columns, depth, runs] = blocked;
  const int64_t unit = !runs ? c.tile_rows : runs->in_box() ? c.row_block : runs->stretch(c.tile_rows);
  return {.rows = split_tasks(problem.extent(problem.ways[c.way].rows.dims), c.row_parts, unit),
          .columns = split_tasks(columns.count(), c.column_parts),
          .depth = split_tasks(depth.count(), c.depth_parts),
          .row_unit = unit};
}

TaskShares::TaskShares(const ContractionProblem& problem, const BlockedCandidate& blocked)
    : batch_(problem.extent(problem.ways[blocked.candidate.way].batch)), before_{0} {
  const TaskDeal deal = deal_out(problem, blocked);
  const int64_t rows = problem.extent(problem.ways[blocked.candidate.way].rows.dims);
  const std::vector<double> columns = sizes(blocked.columns, deal.columns);
  for (const double depth : sizes(blocked.depth, deal.depth)) {
    for (int64_t first = 0; first < rows; first += deal.rows.each) {
      const auto count = static_cast<double>(std::min(deal.rows.each, rows - first));
      for (const double width : columns) before_.push_back(before_.back() + depth * count * width);
    }
  }
  for (double& work : before_) work /= before_.back();
}

double TaskShares::before(int64_t task) const {
  return static_cast<double>(task / tasks_of_one()) + before_[task % tasks_of_one()];
}

double TaskShares::busiest(int64_t threads) const {
  double most = 0;
  for (int64_t thread = 0; thread < threads; ++thread) {
    const auto at = [&](int64_t t) { return before(t * tasks() / threads); };
    most = std::max(most, at(thread + 1) - at(thread));
  }
  return most / static_cast<double>(batch_);
}

}  // namespace ingot::schedule
