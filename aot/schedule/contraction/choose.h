// Which way a contraction is computed: the candidate of least predicted time.
#pragma once

#include <vector>

#include "aot/schedule/contraction/cost.h"

namespace ingot::schedule {

struct RankedCandidate {
  Candidate candidate;
  ContractionCost cost;
  double weighted_ns;
};

// The best `count` candidates, the best first; never empty. A function of the problem and the target alone.
std::vector<RankedCandidate> rank_candidates(const ContractionProblem& problem, const loops::Target& target,
                                             size_t count);

// The candidate of this rank, or the last there is.
Candidate choose_candidate(const ContractionProblem& problem, const loops::Target& target, int rank = 0);

}  // namespace ingot::schedule
