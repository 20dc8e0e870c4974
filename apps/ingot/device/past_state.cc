#include "apps/ingot/device/past_state.h"

#include <algorithm>

namespace ingot {

void PastState::before(int64_t step) {
  constexpr Clock::duration kPeriodMin = std::chrono::seconds(1);
  const Clock::time_point start = Clock::now();
  if (start < due_) return;
  device_.keep_state();
  kept_step_ = step;
  const Clock::time_point end = Clock::now();
  due_ = end + std::max(kPeriodMin, 50 * (end - start));
}

void PastState::go_back_to(int64_t step, const std::function<void(int64_t)>& take) {
  device_.restore_state();
  for (int64_t again = kept_step_; again < step; ++again) take(again);
}

}  // namespace ingot
