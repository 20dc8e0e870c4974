// How many iterations a loop has.
#pragma once

#include <optional>

#include "aot/base/divide.h"
#include "aot/graph/op.h"

namespace ingot {

// A loop's condition is `i < limit` of a carried integer i that starts at a constant and grows by a constant.
struct Counter {
  int index = 0;  // among the carried values
  int64_t start = 0, limit = 0, step = 1;

  int64_t trips() const { return limit <= start ? 0 : divide_up(limit - start, step); }
};
std::optional<Counter> counter_of(const Op& loop);

// The iterations of a loop: by its counter, or none where its condition is the constant false.
std::optional<int64_t> trip_count(const Op& loop);

}  // namespace ingot
