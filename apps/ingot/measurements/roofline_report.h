// A roofline as text: tables for people, or a JSON object on each line.
#pragma once

#include <span>

#include "apps/ingot/measurements/roofline.h"

namespace ingot {

// Prints the machine's peaks, the `most` longest calls, the sums by name and by bound, and the sum of all. In JSON each
// line says in "row" what it is: "machine", "call", "kernel", "bound" or "sum".
void print_roofline(std::span<const CallTime> calls, const MachinePeaks& peaks, size_t most, bool json);

}  // namespace ingot
