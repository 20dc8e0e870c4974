// What register tiles take whose rows are windows of an operand where it lies (window_tile.h).
#pragma once

#include "aot/schedule/contraction/cost.h"

namespace ingot::schedule {

// Of a candidate that has such tiles, on one core.
class WindowCost {
 public:
  WindowCost(const ContractionProblem& problem, const BlockedCandidate& blocked, const loops::Machine& machine);

  // A tile over the whole depth, without the store of its sums.
  double tile_ns(double rows, double vectors) const;
  // The same by a few places of the depth at once, with sums in memory between them.
  double depth_tile_ns(double rows, double vectors) const;

 private:
  int64_t reached(int row, int64_t count, int depth, int64_t places) const;
  double begin_ns(int64_t lines, double line_ns, double first_read) const;
  double gaps() const;

  const ContractionProblem& p_;
  const Candidate& c_;
  const Orientation& way_;
  const Blocked& depth_;
  const RowRuns* runs_;
  const loops::Machine& m_;
  double vector_bytes_;
  bool is_from_outer_cache_;
};

}  // namespace ingot::schedule
