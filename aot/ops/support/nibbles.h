// Integers of 4 bits in words of 32.
#pragma once

#include <cstdint>

namespace ingot::ops {

inline constexpr int64_t kNibbles = 8;       // of a word
inline constexpr int64_t kNibbleOffset = 8;  // what a nibble is more than the integer that it stands for

}  // namespace ingot::ops
