// Philox4x32-10 as integer tensor ops: random numbers that are a function of a key and a counter alone.
// Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <array>

#include "aot/frontend/trace/tensor.h"

namespace ingot {

// One block of four words for each counter; all tensors are ui32 and broadcast to one shape.
std::array<Tensor, 4> philox4x32(std::array<Tensor, 4> counter, std::array<Tensor, 2> key);

// What draws are keyed by, besides the element: the seed is the key, the rest is the counter's upper words.
struct RandomKey {
  Tensor seed;          // i64[]
  Tensor step;          // i64[] or a number; its lower 32 bits count
  uint64_t stream = 0;  // which draw: two words of the counter
};

// ui32 words, independent of each other. With n elements and m = ceil(n / 4), element e is word e / m of block e % m,
// so that blocks are drawn and stored as whole vectors.
Tensor random_bits(const RandomKey& key, const Shape& shape);
// In [0, 1), a multiple of 2^-24 (f32) or 2^-32 (f64).
Tensor random_uniform(const RandomKey& key, const TensorType& type);
// Box & Muller 1958.
Tensor random_normal(const RandomKey& key, const TensorType& type);

}  // namespace ingot
