// The state before a step, for a training that finds the step to be bad.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "apps/ingot/device/device.h"

namespace ingot {

// Copying a large state before every step would take longer than the steps. It is copied now and then, so seldom that
// it takes a fiftieth of the time at most; from there the steps are taken again, which gives the same bits.
class PastState {
 public:
  explicit PastState(Device& device) : device_(device) {}

  void before(int64_t step);  // is called before each step

  // Makes the state what it was before `step`. Steps are taken again by take(step).
  void go_back_to(int64_t step, const std::function<void(int64_t)>& take);

 private:
  using Clock = std::chrono::steady_clock;

  Device& device_;
  int64_t kept_step_ = -1;
  Clock::time_point due_ = Clock::time_point::min();
};

}  // namespace ingot
