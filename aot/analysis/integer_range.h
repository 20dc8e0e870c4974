// Which numbers the elements of an integer tensor can be, as far as the ops that make it say.
#pragma once

#include <optional>

#include "aot/graph/graph.h"

namespace ingot {

struct IntegerRange {
  int64_t low, high;

  int64_t width() const { return high - low; }
  bool is_within(const IntegerRange& other) const { return other.low <= low && high <= other.high; }
  bool operator==(const IntegerRange&) const = default;
};

// The least range that holds both.
IntegerRange joined(const IntegerRange& a, const IntegerRange& b);

// All numbers of an integer dtype of at most 32 bits, or of truth values.
std::optional<IntegerRange> range_of(DType dtype);

// Of a constant with elements.
IntegerRange range_of(const Literal& literal);

// A range that holds every element of `value`; nothing for floats, for integers of more than 32 bits, and for tensors
// without elements.
std::optional<IntegerRange> integer_range(const Value* value);

}  // namespace ingot
