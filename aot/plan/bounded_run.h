// Nodes that run in bounded memory: what the search for things to compute again is made of.
#pragma once

#include <optional>

#include "aot/plan/recompute.h"

namespace ingot::plan {

// How much it counts, when a value is chosen to leave memory, for how long it is not read, and what it is needed for.
struct LeaveWeights {
  double distance_power;
  bool counts_readers;  // what is gone and is made of it takes longer to make again, too
};

// Runs the nodes in program order. Where one finds no room, values leave that take little time to make again, are
// large, and are not read for long; what is read and not there is made again, with all that it is made of.
std::optional<Runs> run_within(const RecomputeProblem& problem, int64_t limit_bytes, const LeaveWeights& weights);

}  // namespace ingot::plan
