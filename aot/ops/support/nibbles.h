// Integers of 4 bits in words of 32.
#pragma once

#include <cstdint>

#include "aot/graph/type.h"

namespace ingot::ops {

inline constexpr int64_t kNibbles = 8;         // of a word: neighbours along the depth
inline constexpr int64_t kNibbleOffset = 8;    // what a nibble is more than the integer that it stands for
inline constexpr int64_t kNibbleColumns = 16;  // that lie side by side, in a panel

// How words lie, as [panels][words of a column][columns of a panel]; scales and zeros lie as [panels][blocks][columns of
// a panel].
struct NibbleShape {
  NibbleShape(const Shape& of_words, const Shape& of_scales)
      : panels(of_words[0]), words(of_words[1]), blocks(of_scales[1]) {}

  int64_t depth() const { return words * kNibbles; }
  int64_t block() const { return depth() / blocks; }

  // Where a column's word, and its scale, lie.
  int64_t word(int64_t column, int64_t k) const { return at(column, k / kNibbles, words); }
  int64_t scale(int64_t column, int64_t k) const { return at(column, k / block(), blocks); }

  int64_t panels, words, blocks;

 private:
  static int64_t at(int64_t column, int64_t line, int64_t lines) {
    return (column / kNibbleColumns * lines + line) * kNibbleColumns + column % kNibbleColumns;
  }
};

}  // namespace ingot::ops
