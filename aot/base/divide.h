// Integer division that rounds as said, by a positive divisor.
#pragma once

#include <cstdint>

namespace ingot {

constexpr int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
constexpr int64_t divide_up(int64_t a, int64_t b) { return floor_divide(a + b - 1, b); }
constexpr int64_t round_up(int64_t a, int64_t multiple) { return divide_up(a, multiple) * multiple; }

}  // namespace ingot
