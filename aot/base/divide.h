// Integer division that rounds as said, by a positive divisor.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace ingot {

constexpr int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

template <std::integral A, std::integral B>
constexpr auto divide_up(A a, B b) {
  using T = std::common_type_t<A, B>;
  const T quotient = static_cast<T>(a) / static_cast<T>(b);
  return static_cast<T>(quotient + (static_cast<T>(a) % static_cast<T>(b) > 0 ? 1 : 0));
}

// The least multiple that is not below a.
template <std::integral A, std::integral B>
constexpr auto round_up(A a, B multiple) {
  return divide_up(a, multiple) * multiple;
}

}  // namespace ingot
