// What a contraction will take: the model by which its kernel is chosen.
#pragma once

#include <algorithm>

#include "aot/loops/target.h"
#include "aot/schedule/contraction/candidate.h"
#include "aot/schedule/contraction/row_runs.h"

namespace ingot::schedule {

constexpr double kMeetNs = 600;  // threads wait for each other after a step

// Lines of columns where they lie that are read at once, each from its start to its end: as many as processors
// foresee; where it takes time to fetch such lines anew, no more than the first-level cache keeps that are its critical
// stride apart.
inline int64_t lines_at_once(const loops::Machine& machine) {
  constexpr int64_t kForeseen = 32;
  return machine.lost_columns_share > 0 ? std::min(kForeseen, machine.l1_bytes / machine.l1_critical_stride)
                                        : kForeseen;
}

// More than the second-level cache keeps beside what else is in use.
inline bool is_from_outer_cache(const ContractionProblem& problem, const OperandSide& it,
                                const loops::Machine& machine) {
  return problem.operand_bytes(it) > machine.l2_bytes / 2;
}

// Nanoseconds of one core, all tasks one after the other.
struct ContractionCost {
  double multiply_ns = 0;   // the register tiles, from operands in the second-level cache
  double pack_rows_ns = 0;  // copies into the order in which tiles read
  double pack_columns_ns = 0;
  double outer_cache_ns = 0;  // what multiplying waits for operands from the outer caches
  double result_ns = 0;       // stores, partial sums and their combination
  double tasks_ns = 0;        // to begin tasks

  double total_ns() const {
    return multiply_ns + pack_rows_ns + pack_columns_ns + outer_cache_ns + result_ns + tasks_ns;
  }
};

// A candidate with its blocks.
struct BlockedCandidate {
  const Candidate& candidate;
  const Blocked& columns;
  const Blocked& depth;
  const RowRuns* runs = nullptr;  // rows that are read so
};

ContractionCost predict(const ContractionProblem& problem, const BlockedCandidate& blocked,
                        const loops::Target& target);

}  // namespace ingot::schedule
