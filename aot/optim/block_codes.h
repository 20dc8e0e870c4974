// Moments of 8 bits an element: of each block of elements the greatest size, and of each element a code for its share of
// that. Dettmers et al. 2022, "8-bit Optimizers via Block-wise Quantization", arXiv 2110.02861.
//
// A share y in [0, 1] has the upper bits of the float y + offset, less those of the offset: three bits of mantissa, steps
// that are all alike near 0, and 0 has code 0. Theirs are the nearest entries of a table, found by a search; these are
// made by a shift. And rounding is dithered: an average that moves by less than half a step would stay where it is under
// rounding to the nearest. The dither of an element is a Weyl sequence over the steps, without state: codes are right in the
// mean over the steps. All of it is arithmetic of integers that wrap: the same on every machine.
#pragma once

#include "aot/frontend/trace/functions.h"

namespace ingot::optim {

struct CodeFormat {
  float offset;  // shares well below it are as good as lost
  bool is_signed;
  uint32_t phase;  // where the dither starts, in 2^-32 of a step
};
inline constexpr CodeFormat kMeanCodes{0x1p-15F, true, 0};              // bit 7 is the sign
inline constexpr CodeFormat kSquareCodes{0x1p-31F, false, 0x80000000};  // what is more than 0 has a code of at least 1

struct Coded {
  Tensor codes;   // ui8 [blocks, elements]
  Tensor scales;  // f32 [blocks]
};

// How many elements each block of a tensor has: the largest divisor of their number up to 256. 0 where that is less than
// 64, and where the tensor is small or f64: it is better kept as it is.
int64_t block_elements(const TensorType& type);

// Values are f32 [blocks, elements]; steps, an integer, are how often they were encoded, this time included.
Coded encode(const Tensor& values, const CodeFormat& format, const Tensor& steps);
Tensor decode(const Coded& coded, const CodeFormat& format);

}  // namespace ingot::optim
