// One run, step by step, for viewers of Chrome's trace format, such as Perfetto.
#pragma once

#include <cstdint>
#include <string>

#include "apps/ingot/device/device.h"

namespace ingot {

// A JSON object with an event for each step that the calling thread took, in the order in which it took them.
std::string trace_events(Device& device, uint32_t entry);

}  // namespace ingot
