// The monotonic clock.
#pragma once

#include "engine/src/error.h"

namespace ingot::engine {

// INGOT_BAD_ARGUMENT where neither a system nor the application has one; then it is always 0.
ingot_status check_clock(ingot_error* error);
uint64_t now_ns();

}  // namespace ingot::engine
