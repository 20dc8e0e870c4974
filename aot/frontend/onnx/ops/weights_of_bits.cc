// Products by weights of 4 or 8 bits in blocks along the depth: w = (q - zero point) scale.
#include <fmt/format.h>

#include "aot/base/divide.h"
#include "aot/frontend/onnx/node_args.h"
#include "aot/ops/support/index.h"

namespace ingot::onnx {
namespace {

// Bytes as the integers of `bits` bits that they hold along the last dimension, the lower ones first.
Term unpacked(Term bytes, int64_t bits) {
  if (bits == 8) return bytes;
  const int axis = rank_of(bytes);
  const Term low = bytes.binary(kAnd, bytes.like(15)), high = bytes.binary(kShiftRightLogical, bytes.like(4));
  const Term pairs(bytes.builder(),
                   ops::concatenate(bytes.builder(), {unsqueeze(low, axis), unsqueeze(high, axis)}, axis));
  Shape shape = bytes.shape();
  shape.back() *= 2;
  return reshape(pairs, shape);
}

struct BlockedWeights {
  int64_t bits, block, blocks, channels, depth;
};

BlockedWeights read_attributes(NodeArgs& n) {
  BlockedWeights w{n.integer("bits", 4), n.integer("block_size"), 0, n.integer("N"), n.integer("K")};
  if (w.bits != 4 && w.bits != 8) n.limit(fmt::format("weights of {} bits; 4 and 8 are supported", w.bits));
  if (n.integer("weight_prepacked", 0) != 0) n.limit("its weights are packed for one processor");
  if (n.has(4)) n.limit("its rows are in another order (g_idx)");
  if (w.block < 16 || w.channels < 1 || w.depth < 1) n.fail("N, K or block_size is too small");
  w.blocks = divide_up(w.depth, w.block);
  const int64_t bytes = w.blocks * w.block * w.bits / 8;
  if (dtype_of(n.in(1)) != DType::kUI8 || element_count(n.in(1).shape()) != w.channels * bytes)
    n.fail(fmt::format("its weights are {}, and not {} bytes for each of {} channels", to_string(type_of(n.in(1))),
                       bytes, w.channels));
  if (element_count(n.in(2).shape()) != w.channels * w.blocks)
    n.fail(fmt::format("its scales are {}, and not {} for each of {} channels", to_string(type_of(n.in(2))), w.blocks,
                       w.channels));
  return w;
}

// What is taken off integers, like them; f32 or i32.
Term zero_point(NodeArgs& n, const BlockedWeights& w, const Shape& shape) {
  if (!n.has(3)) return constant(n.b, {DType::kI32, shape}, static_cast<double>(int64_t{1} << (w.bits - 1)));
  Term given = n.in(3);
  if (dtype_of(given) == DType::kUI8) {
    const int64_t bytes = divide_up(w.blocks * w.bits, int64_t{8});
    if (element_count(given.shape()) != w.channels * bytes) n.fail("its zero points are not one for each block");
    given = slice(unpacked(reshape(given, {w.channels, bytes}), w.bits), 1, 0, w.blocks);
  }
  const Term wide = converted(given, is_float(dtype_of(given)) ? DType::kF32 : DType::kI32);
  return broadcast(reshape(wide, {w.channels, w.blocks, 1}), shape);
}

}  // namespace

// A [..., K] by weights [N, K], and a bias.
Items lower_mat_mul_n_bits(NodeArgs& n) {
  const BlockedWeights w = read_attributes(n);
  const Term a = n.in(0);
  if (rank_of(a) < 1 || a.shape().back() != w.depth) n.fail(fmt::format("its input has no rows of K = {}", w.depth));
  const Term q = reshape(unpacked(reshape(n.in(1), {w.channels, w.blocks, w.block * w.bits / 8}), w.bits),
                         {w.channels, w.blocks, w.block});
  const Term zero = zero_point(n, w, q.shape());
  const Term integers = converted(converted(q, dtype_of(zero)) - zero, DType::kF32);
  const Term scale = converted(reshape(n.in(2), {w.channels, w.blocks, 1}), DType::kF32);
  Term weights = reshape(integers * broadcast(scale, q.shape()), {w.channels, w.blocks * w.block});
  if (w.blocks * w.block > w.depth) weights = slice(weights, 1, 0, w.depth);
  const Term x = converted(a, DType::kF32);
  const Term y(n.b, ops::dot_general(n.b, x, weights, {{}, {}, {rank_of(a) - 1}, {1}}));
  const Term sum = n.has(5) ? y + broadcast(converted(n.in(5), DType::kF32), y.shape()) : y;
  return converted(sum, dtype_of(a));
}

}  // namespace ingot::onnx
