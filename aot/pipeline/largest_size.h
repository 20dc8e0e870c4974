// The largest size that memory allows of what a program leaves open (`--largest batch`).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "aot/pipeline/memory_limit.h"

namespace ingot {

inline constexpr int64_t kLargestSizeMax = 1 << 20;  // no size beyond it is tried

struct LargestSize {
  int64_t size = 0;                     // keeps every limit
  std::optional<OverMemoryLimit> next;  // why one more does not; null for kLargestSizeMax
};

// `try_size` throws OverMemoryLimit where a size does not fit. Doubles the size, bisects, and looks at a few sizes more:
// arenas grow with the size, but scratch is as the kernels of each size need it. Where 1 does not fit, that error is
// passed on, as is every other.
LargestSize largest_size(const std::function<void(int64_t size)>& try_size);

}  // namespace ingot
