// Integers of 4 bits in words of 32.
#pragma once

#include <cstdint>

#include "aot/graph/type.h"

namespace ingot::ops {

inline constexpr int64_t kNibbles = 8;       // of a word
inline constexpr int64_t kNibbleOffset = 8;  // what a nibble is more than the integer that it stands for

// How words lie: [rows / beside][groups][beside][lanes]. A row's groups are `beside` of them apart: rows that are read at
// once are one stretch of memory, which processors foresee better than several.
struct WordShape {
  explicit WordShape(const Shape& shape)
      : beside(shape[2]), rows(shape[0] * beside), groups(shape[1]), lanes(shape[3]) {}

  // Where the words of a row's group begin.
  int64_t first(int64_t row, int64_t group) const {
    return ((row / beside * groups + group) * beside + row % beside) * lanes;
  }

  int64_t beside, rows, groups, lanes;
};

}  // namespace ingot::ops
