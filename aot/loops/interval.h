// Intervals: between which numbers an integer value lies, from those of what it is computed of.
#pragma once

#include "aot/loops/loop.h"

namespace ingot::loops {

struct Interval {
  int64_t low, high;
  bool is_within(const Interval& other) const { return other.low <= low && high <= other.high; }
};

// Of a value of an integer dtype or i1. Where it may wrap, or nothing else is known, all that its dtype holds; of ui64
// what an int64_t holds of it.
Interval interval_of(const Kernel& kernel, const Expr& value);

}  // namespace ingot::loops
