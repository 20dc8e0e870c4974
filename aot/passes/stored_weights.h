// Weights of a product as integers of few bits: w = (q - zero) scale, with one scale, and perhaps zero, for each channel of
// the result or for each block of its depth.
#pragma once

#include <cstdint>
#include <vector>

#include "aot/graph/builder.h"

namespace ingot {

struct StoredWeights {
  int bits = 8;  // 8 or 4: q is -128 to 127 or -8 to 7
  int64_t channels = 0, depth = 0;
  int64_t block = 0;               // of the depth, which divides it
  std::vector<int8_t> integers;    // [channels][depth]
  std::vector<float> scales;       // [channels][depth / block]
  std::vector<int8_t> zeros = {};  // likewise; empty: they are all 0

  int64_t blocks() const { return depth / block; }
  bool has_one_scale() const { return block == depth; }
  int64_t bytes() const;  // as they lie in a bundle
};

// Whether a depth in such blocks can be kept in 4 bits.
bool fits_nibbles(int64_t depth, int64_t block);

// Of 8 bits with a scale for each channel: the integers, [channels][depth], and the scales. Sums are what is scaled.
Value* bytes_of(GraphBuilder& b, const StoredWeights& weights);
Value* scales_of(GraphBuilder& b, const StoredWeights& weights);

// Any weights in f32, as ops make them of constants: [channels][blocks][block], or [depth][channels] of 4 bits.
Value* widened(GraphBuilder& b, const StoredWeights& weights);

}  // namespace ingot
