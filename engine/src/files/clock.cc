#include "engine/src/clock.h"

#include <time.h>

namespace ingot::engine {

ingot_status check_clock(ingot_error*) { return INGOT_OK; }

uint64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace ingot::engine
