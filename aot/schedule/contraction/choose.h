// Which way a contraction is computed: the candidate of least predicted time.
#pragma once

#include <optional>
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

// How a sum comes about: step by step of the depth in blocks of it, each from 0 on, these in so many parts, and the parts in
// order. Tiles, lanes and packing do not count.
struct SumOrder {
  std::vector<int> depth;  // as Orientation has it
  int64_t depth_limit, depth_parts;
};

// Of a candidate; nullopt where it depends on more: on lanes along the depth, or on which zeros around windows are skipped.
std::optional<SumOrder> sum_order(const ContractionProblem& problem, const Candidate& candidate);

// The best candidate whose sums are in this order, if there is one.
std::optional<Candidate> choose_candidate(const ContractionProblem& problem, const loops::Target& target,
                                          const SumOrder& order);

// The candidate of this rank, or the last there is.
Candidate choose_candidate(const ContractionProblem& problem, const loops::Target& target, int rank = 0);

}  // namespace ingot::schedule
