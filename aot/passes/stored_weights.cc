#include "aot/passes/stored_weights.h"

#include <bit>
#include <cstring>

#include "aot/base/divide.h"
#include "aot/ops/support/algebra.h"
#include "aot/ops/support/nibbles.h"

namespace ingot {
namespace {

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

// Those of [channels][blocks] in panels.
template <typename T>
std::vector<T> in_panels(const StoredWeights& w, const ops::NibbleShape& shape, const std::vector<T>& of_blocks) {
  std::vector<T> values(shape.panels * shape.blocks * ops::kNibbleColumns);
  for (int64_t at = 0; at < std::ssize(of_blocks); ++at)
    values[shape.scale(at / shape.blocks, at % shape.blocks * w.block)] = of_blocks[at];
  return values;
}

Value* of_nibbles(GraphBuilder& b, const StoredWeights& w) {
  const int64_t panels = divide_up(w.channels, ops::kNibbleColumns);
  const Shape of_words{panels, w.depth / ops::kNibbles, ops::kNibbleColumns};
  const Shape of_blocks{panels, w.blocks(), ops::kNibbleColumns};
  const ops::NibbleShape shape(of_words, of_blocks);
  std::vector<uint32_t> words(element_count(of_words));
  for (int64_t at = 0; at < std::ssize(w.integers); ++at) {
    const int64_t k = at % w.depth;
    words[shape.word(at / w.depth, k)] |= static_cast<uint32_t>(w.integers[at] + ops::kNibbleOffset)
                                          << (4 * (k % ops::kNibbles));
  }
  Values operands{constant_of_values(b, DType::kI32, of_words, words),
                  constant_of_values(b, DType::kF32, of_blocks, in_panels(w, shape, w.scales))};
  if (!w.zeros.empty()) operands.push_back(constant_of_values(b, DType::kI8, of_blocks, in_panels(w, shape, w.zeros)));
  return b.make(kUnpackNibbles, operands, {{"columns", IntAttr{w.channels}}});
}

}  // namespace

int64_t StoredWeights::bytes() const {
  const int64_t columns = bits == 4 ? round_up(channels, ops::kNibbleColumns) : channels;
  return columns * (depth * bits / 8 + blocks() * (zeros.empty() ? 4 : 5));
}

bool fits_nibbles(int64_t depth, int64_t block) { return depth % block == 0 && block % ops::kNibbles == 0; }

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
