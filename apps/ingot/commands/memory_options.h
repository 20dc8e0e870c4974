// --memory-limit and --micro-batches: sizes, and numbers of parts, of all entry points or by their names.
#pragma once

#include <string>
#include <vector>

#include "aot/pipeline/compile.h"

namespace ingot {

inline constexpr const char* kLeast = "least";
inline constexpr const char* kAuto = "auto";

// What `4MiB`, `least` and `ENTRY=4MiB` give.
std::vector<MemoryLimit> memory_limits(const std::vector<std::string>& texts);

// What `4`, `auto` and `ENTRY=4` give.
std::vector<MicroBatches> micro_batches(const std::vector<std::string>& texts);

}  // namespace ingot
