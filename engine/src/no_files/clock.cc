#include "engine/src/clock.h"

#include <ingot/clock.h>

// Null where the application defines none.
extern "C" [[gnu::weak]] uint64_t ingot_clock_ns();

namespace ingot::engine {

ingot_status check_clock(ingot_error* error) {
  if (ingot_clock_ns) return INGOT_OK;
  return fail(error, INGOT_BAD_ARGUMENT, "there is no clock for a deadline: define ingot_clock_ns (ingot/clock.h)");
}

uint64_t now_ns() { return ingot_clock_ns ? ingot_clock_ns() : 0; }

}  // namespace ingot::engine
