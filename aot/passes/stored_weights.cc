#include "aot/passes/stored_weights.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "aot/ops/support/algebra.h"
#include "aot/ops/support/nibbles.h"

namespace ingot {
namespace {

constexpr int64_t kLanes[] = {16, 8, 4};
constexpr int64_t kBeside = 4;  // channels whose words lie side by side: as many as are multiplied at once

template <typename T>
Value* constant_of_values(GraphBuilder& b, DType dtype, const Shape& shape, const std::vector<T>& values) {
  std::vector<std::byte> data(values.size() * sizeof(T));
  std::memcpy(data.data(), values.data(), data.size());
  return ops::constant(b, dense({dtype, shape}, std::move(data)));
}

// Scales, or zeros, of blocks of [channels][blocks][block].
Term spread(GraphBuilder& b, Value* of_blocks, const Shape& shape) {
  return {b, ops::broadcast_in_dim(b, of_blocks, shape, {0, 1})};
}

Value* of_bytes(GraphBuilder& b, const StoredWeights& w) {
  const Shape shape{w.channels, w.blocks(), w.block}, blocks{w.channels, w.blocks()};
  Term wide = converted({b, constant_of_values(b, DType::kI8, shape, w.integers)}, DType::kF32);
  if (!w.zeros.empty())
    wide = wide - converted(spread(b, constant_of_values(b, DType::kI8, blocks, w.zeros), shape), DType::kF32);
  return wide * spread(b, constant_of_values(b, DType::kF32, blocks, w.scales), shape);
}

// As many words in line as vectors have lanes, where blocks and the depth allow it; 0: they allow none.
int64_t lanes_of(int64_t depth, int64_t block) {
  const auto fits = [&](int64_t lanes) { return depth % (ops::kNibbles * lanes) == 0 && block % lanes == 0; };
  const auto lanes = std::ranges::find_if(kLanes, fits);
  return lanes == std::end(kLanes) ? 0 : *lanes;
}

Value* of_nibbles(GraphBuilder& b, const StoredWeights& w) {
  const int64_t lanes = lanes_of(w.depth, w.block), group_elements = ops::kNibbles * lanes;
  const int64_t beside = w.channels % kBeside == 0 ? kBeside : 1;
  const Shape shape{w.channels / beside, w.depth / group_elements, beside, lanes};
  std::vector<uint32_t> words(w.integers.size() / ops::kNibbles);
  for (int64_t at = 0; at < std::ssize(w.integers); ++at) {
    const int64_t row = at / w.depth, k = at % w.depth, nibble = k % group_elements / lanes;
    words[ops::WordShape(shape).first(row, k / group_elements) + k % lanes] |=
        static_cast<uint32_t>(w.integers[at] + ops::kNibbleOffset) << (4 * nibble);
  }
  const Shape blocks{w.channels, w.blocks()};
  Values operands{constant_of_values(b, DType::kI32, shape, words),
                  constant_of_values(b, DType::kF32, blocks, w.scales)};
  if (!w.zeros.empty()) operands.push_back(constant_of_values(b, DType::kI8, blocks, w.zeros));
  return b.make(kUnpackNibbles, operands);
}

}  // namespace

bool fits_nibbles(int64_t depth, int64_t block) { return lanes_of(depth, block) > 0; }

Value* bytes_of(GraphBuilder& b, const StoredWeights& weights) {
  return constant_of_values(b, DType::kI8, {weights.channels, weights.depth}, weights.integers);
}

Value* scales_of(GraphBuilder& b, const StoredWeights& weights) {
  return constant_of_values(b, DType::kF32, {weights.channels}, weights.scales);
}

Value* widened(GraphBuilder& b, const StoredWeights& weights) {
  static_assert(std::endian::native == std::endian::little);
  return weights.bits == 4 ? of_nibbles(b, weights) : of_bytes(b, weights);
}

}  // namespace ingot
