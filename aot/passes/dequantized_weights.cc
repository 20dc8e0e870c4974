#include "aot/passes/dequantized_weights.h"

#include <algorithm>
#include <cmath>

#include "aot/analysis/made_literal.h"
#include "aot/graph/evaluate.h"
#include "aot/ops/ops.h"

namespace ingot {
namespace {

constexpr int64_t kShortest = 16;  // of a block

bool is_of_integers(const Value* value) {
  while (value->op && value->op->def->only_moves() && value->op->operands.size() == 1) value = value->op->operand(0);
  return value->op && value->op->is(kConvert) && is_integer(value->op->operand(0)->type.dtype);
}

// The least and the most that an integer of so many bits is.
int64_t least(int bits) { return -(int64_t{1} << (bits - 1)); }
int64_t span(int bits) { return (int64_t{1} << bits) - 1; }

// The integers of a block less their zero: within its bits. The zero is 0 where it can be.
std::optional<int64_t> zero_of(std::span<const float> block, int bits) {
  const auto [low, high] = std::ranges::minmax(block);
  if (low >= static_cast<float>(least(bits)) && high <= static_cast<float>(least(bits) + span(bits))) return 0;
  const int64_t zero = least(bits) - static_cast<int64_t>(low);
  const bool fits = high - low <= static_cast<float>(span(bits)) && zero >= least(8) && zero <= least(8) + span(8);
  return fits ? std::optional(zero) : std::nullopt;
}

std::optional<StoredWeights> in_blocks(const std::vector<float>& integers, const std::vector<float>& scales,
                                       StoredWeights w) {
  bool has_zeros = false;
  for (size_t at = 0; at < integers.size(); at += w.block) {
    const std::span<const float> block(&integers[at], w.block), scale(&scales[at], w.block);
    const std::optional<int64_t> zero = zero_of(block, w.bits);
    if (!zero || std::ranges::any_of(scale, [&](float s) { return s != scale[0]; })) return std::nullopt;
    has_zeros |= *zero != 0;
    w.scales.push_back(scale[0]);
    w.zeros.push_back(static_cast<int8_t>(*zero));
    for (const float v : block) w.integers.push_back(static_cast<int8_t>(static_cast<int64_t>(v) + *zero));
  }
  if (!has_zeros) w.zeros.clear();
  return w;
}

}  // namespace

std::optional<DequantizedWeights> dequantized_weights(const Value* value) {
  if (!value->op || value->type.dtype != DType::kF32) return std::nullopt;
  const Op& op = *value->op;
  if (op.def->only_moves() && op.operands.size() == 1) {
    const std::optional<DequantizedWeights> inner = dequantized_weights(op.operand(0));
    if (!inner) return std::nullopt;
    const auto moved = [&](const RefTensor& x) { return evaluate(op, std::span(&x, 1))[0]; };
    return DequantizedWeights{moved(inner->integers), moved(inner->scales)};
  }
  if (!op.is(kMultiply)) return std::nullopt;
  const int factor = is_of_integers(op.operand(0)) ? 0 : 1;
  if (!is_of_integers(op.operand(factor))) return std::nullopt;
  const LiteralRef integers = made_literal(op.operand(factor)), scales = made_literal(op.operand(1 - factor));
  if (!integers || !scales || !are_finite(*scales)) return std::nullopt;
  return DequantizedWeights{from_literal(*integers), from_literal(*scales)};
}

std::optional<StoredWeights> stored_as_they_are(const std::vector<float>& integers, const std::vector<float>& scales,
                                                int64_t channels) {
  const int64_t depth = static_cast<int64_t>(integers.size()) / channels;
  for (const int bits : {4, 8}) {
    for (int64_t block = depth; block >= kShortest; --block) {
      if (depth % block != 0 || (bits == 4 && !fits_nibbles(depth, block))) continue;
      if (auto w = in_blocks(integers, scales, {bits, channels, depth, block, {}, {}})) return w;
    }
  }
  return std::nullopt;
}

}  // namespace ingot
