#include "aot/schedule/contraction/cache_sets.h"

#include <algorithm>
#include <numeric>

namespace ingot::schedule {

constexpr int64_t kFewSteps = 32;

double crowding(const loops::Machine& machine, int64_t apart_bytes, int64_t piece_bytes) {
  const int64_t stride = machine.l1_critical_stride;
  const int64_t pieces_apart = std::min(stride / machine.line_bytes, stride / std::gcd(apart_bytes, stride));
  return std::max(1.0, static_cast<double>(stride) / static_cast<double>(pieces_apart * piece_bytes));
}

double crowded_bytes(const loops::Machine& machine, int64_t pieces, int64_t apart_bytes, int64_t piece_bytes) {
  return static_cast<double>(pieces * piece_bytes) * crowding(machine, apart_bytes, piece_bytes);
}

// A set has as many ways as its critical stride goes into the cache; of powers of two, so that both cancel.
bool overflow_sets(const loops::Machine& machine, int64_t lines, int64_t apart_bytes) {
  return apart_bytes != 0 && lines * std::gcd(apart_bytes, machine.l2_bytes) > machine.l2_bytes;
}

double far_share(const loops::Machine& machine, int64_t steps, int64_t step_bytes) {
  if (steps <= kFewSteps) return 0;
  return std::min(1.0, static_cast<double>(step_bytes) / static_cast<double>(machine.page_bytes));
}

}  // namespace ingot::schedule
