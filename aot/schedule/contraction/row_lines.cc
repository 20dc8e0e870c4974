#include "aot/schedule/contraction/row_lines.h"

#include <cstdlib>

#include "aot/base/divide.h"
#include "aot/schedule/contraction/cache_sets.h"

namespace ingot::schedule {

RowLines::RowLines(const ContractionProblem& problem, const BlockedCandidate& blocked, const loops::Machine& machine)
    : p_(problem),
      c_(blocked.candidate),
      way_(problem.ways[c_.way]),
      columns_(blocked.columns),
      depth_(blocked.depth),
      runs_(blocked.runs),
      m_(machine) {}

bool RowLines::are_in_place() const {
  return c_.pack_rows == Packing::kNone && way_.rows.depth_stride && way_.rows.stride == 1 && !way_.is_along_depth();
}

bool RowLines::are_in_box() const { return runs_ && runs_->in_box() && runs_->run().step == 1; }

int64_t RowLines::apart_bytes() const {
  const int64_t step = are_in_box() ? depth_ranges(*runs_, depth_).back().step : *way_.rows.depth_stride;
  return std::abs(step) * p_.accumulator_bytes();
}

double RowLines::step_bytes() const {
  if (!are_in_place() && !are_in_box()) return 0;
  return static_cast<double>(std::min(m_.line_bytes, apart_bytes())) * fetches();
}

double RowLines::step_ns() const {
  if (!are_in_place()) return 0;
  return (m_.row_line_ns + m_.far_row_line_ns * far_share(m_, depth_.total(), apart_bytes())) * fetches();
}

bool RowLines::are_lost() const { return are_in_place() && overflow_sets(m_, depth_.width(), apart_bytes()); }

// How often a line is fetched, of all times that the panels of a block read it.
double RowLines::fetches() const {
  const int64_t block_bytes = columns_.width() * depth_.width() * p_.accumulator_bytes();
  const double lines_bytes = crowded_bytes(m_, depth_.width(), apart_bytes(), m_.line_bytes);
  const bool stay =
      are_in_place() && lines_bytes + static_cast<double>(block_bytes) <= static_cast<double>(m_.l1_bytes);
  return stay ? 1.0 / static_cast<double>(divide_up(columns_.width(), c_.tile_vectors * way_.lanes)) : 1;
}

}  // namespace ingot::schedule
