// What is computed again, so that less has to be kept: values that are read late leave memory, and the nodes that make
// them run another time.
#pragma once

#include <optional>
#include <vector>

#include "aot/plan/order.h"

namespace ingot::plan {

struct RecomputeProblem {
  OrderProblem order;                // its nodes run in program order
  std::vector<double> node_ns;       // of each node; kOnce for those that may not run again
  std::vector<int64_t> again_bytes;  // of each value that is made again: that is in the arena, wherever the first was
  std::vector<int> overwritten_by;   // of each value: the node that writes in its place, or -1

  static constexpr double kOnce = -1;
};

struct Run {
  int node;
  std::vector<int> makes;  // values that are read as this run makes them; all of the node's when it runs first
};

// In order. What is read of a value is what the last run made that makes it.
using Runs = std::vector<Run>;

// Runs by which no more than `limit_bytes` live at once, in little time: nullopt where no such runs are found.
//
// Memory is filled in program order. Where a node finds no room, values leave that take little time to make again,
// are large, and are not read for long; what is read and not there is made again, with all that it is made of. In the
// end no node runs again for what could have been kept after all.
std::optional<Runs> recompute(const RecomputeProblem& problem, int64_t limit_bytes);

// The same as a problem of its own, without edges: each run is a node, and what runs make of a value are values of their
// own, the first of them with the number that the value has.
OrderProblem problem_of(const RecomputeProblem& problem, const Runs& runs);

// Of all that runs again.
double again_ns(const RecomputeProblem& problem, const Runs& runs);

}  // namespace ingot::plan
