// How the work of a contraction is dealt out to tasks, and these to threads.
#pragma once

#include "aot/schedule/contraction/cost.h"
#include "aot/schedule/step.h"

namespace ingot::schedule {

// Tasks: batch x depth x rows x columns, the last innermost. Rows in elements, columns and depth in blocks.
struct TaskDeal {
  TaskSplit rows, columns, depth;
  int64_t row_unit;  // rows that stay together
};

// By whole row units and blocks: as many tasks as the candidate asks for, or fewer.
TaskDeal deal_out(const ContractionProblem& problem, const BlockedCandidate& blocked);

// What the busiest of so many threads has to do of all the work, when each takes a range of tasks that follow each other,
// as the engine does.
class TaskShares {
 public:
  TaskShares(const ContractionProblem& problem, const BlockedCandidate& blocked);

  int64_t tasks() const { return batch_ * tasks_of_one(); }
  double busiest(int64_t threads) const;

 private:
  int64_t tasks_of_one() const { return static_cast<int64_t>(before_.size()) - 1; }
  double before(int64_t task) const;

  int64_t batch_;
  std::vector<double> before_;  // the work before each task, and before the end, of one place of the batch: from 0 to 1
};

}  // namespace ingot::schedule
