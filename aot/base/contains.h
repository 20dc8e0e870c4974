// Whether a list has a value.
#pragma once

#include <algorithm>
#include <ranges>

namespace ingot {

template <std::ranges::input_range Range, typename Value>
bool contains(const Range& range, const Value& value) {
  return std::ranges::find(range, value) != std::ranges::end(range);
}

}  // namespace ingot
