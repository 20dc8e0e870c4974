// Rows of a product with weights of 4 bits, made ready for all columns by a step of their own.
#pragma once

#include "aot/schedule/contraction/nibble_product.h"

namespace ingot::schedule {

inline constexpr int64_t kDigits = 3;  // of an element, 8 bits each
inline constexpr int64_t kHalves = 2;  // of a word: its nibbles of even and of odd places, as bytes

// A temporary with so many elements for each part of each row.
struct OfParts {
  int temporary = -1;
  int64_t each = 1;
};

struct NibbleRows {
  int64_t pitch;    // parts of a row, and such as fill a vector
  OfParts factors;  // digits: words of four, i32 [words of a part][halves][digits]; else f32 [a part's elements]
  OfParts sums;     // of digits, i32; else f32. Where there are no zeros, times -kNibbleOffset
  OfParts units;    // of digits: what 1 stands for, f32

  loops::Index place(const OfParts& of, const loops::Index& row, const loops::Index& part,
                     const loops::Index& k) const {
    return (row * pitch + part) * of.each + k;
  }
};

NibbleRows prepare_nibble_rows(Draft& draft, const NibbleProduct& product);

}  // namespace ingot::schedule
