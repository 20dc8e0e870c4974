// Where a run's time goes, step by step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/ingot/device/device.h"

namespace ingot {

// A step of the plan that calls a kernel, as the calling thread saw it. Steps that only jump are left out.
struct StepTime {
  uint32_t step = 0;  // as in the plan's text
  std::string kernel;
  uint32_t tasks = 0;
  uint64_t rounds = 0;  // in one run: more than one in a loop
  double ms = 0;        // of one run, all rounds: the median of `runs`
};

// Runs the entry `runs` times; the longest step first. The clock is read twice a step: compare shares, not sums.
std::vector<StepTime> measure_steps(Device& device, uint32_t entry, int runs);

}  // namespace ingot
