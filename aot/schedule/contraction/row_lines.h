// What it takes to multiply by rows that lie beside each other, across the depth: each of its steps reads a line of them.
#pragma once

#include "aot/schedule/contraction/cost.h"

namespace ingot::schedule {

// Of a candidate, on one core.
class RowLines {
 public:
  RowLines(const ContractionProblem& problem, const BlockedCandidate& blocked, const loops::Machine& machine);

  // Whether rows are read so where they lie.
  bool are_in_place() const;
  // What a step reads of them from the second-level cache: a line, as far as steps do not share one and the panels of a
  // block do not find it in the first-level cache. Of rows that lie otherwise it is little.
  double step_bytes() const;
  // ... and how long it waits for that.
  double step_ns() const;
  // A tile of rows reads a piece of each line: whether the rest is lost before the next tile reads it.
  bool are_lost() const;

 private:
  bool are_in_box() const;
  int64_t apart_bytes() const;
  double fetches() const;

  const ContractionProblem& p_;
  const Candidate& c_;
  const Orientation& way_;
  const Blocked &columns_, &depth_;
  const RowRuns* runs_;
  const loops::Machine& m_;
};

}  // namespace ingot::schedule
