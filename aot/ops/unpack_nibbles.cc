// ingot.unpack_nibbles: weights that are kept as integers of 4 bits, as floats.
#include <fmt/format.h>

#include "aot/graph/literal.h"
#include "aot/loops/algebra.h"
#include "aot/loops/element.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/nibbles.h"
#include "aot/ops/support/samples.h"

namespace ingot::unpack_nibbles_op {
namespace {

using ops::kNibbles;
using ops::WordShape;

std::vector<TensorType> infer(const InferArgs& args) {
  if (args.operands.size() < 2 || args.operands.size() > 3) args.fail("takes words, scales and perhaps zeros");
  const TensorType &words = args.operands[0], &scales = args.operands[1];
  if (words.dtype != DType::kI32 || words.rank() != 4)
    args.fail(fmt::format("words are {}, and not i32 of four dimensions", to_string(words)));
  const WordShape shape(words.shape);
  if (scales.dtype != DType::kF32 || scales.rank() != 2 || scales.shape[0] != shape.rows)
    args.fail(fmt::format("scales are {}, and not f32 of two dimensions with a row for each of the words",
                          to_string(scales)));
  if (args.operands.size() == 3 && args.operands[2] != TensorType{DType::kI8, scales.shape})
    args.fail(fmt::format("zeros are {}, and not i8 of the scales' shape", to_string(args.operands[2])));
  const int64_t depth = shape.groups * shape.lanes * kNibbles, blocks = scales.shape[1];
  const bool has_blocks = blocks > 0 && depth % blocks == 0 && shape.lanes > 0 && shape.beside > 0;
  if (!has_blocks || depth / blocks % shape.lanes != 0)
    args.fail(fmt::format("{} elements of a row are no {} blocks of whole parts of {}", depth, blocks, shape.lanes));
  return {{DType::kF32, {shape.rows, depth}}};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor &words = args.inputs[0], &scales = args.inputs[1];
  const WordShape shape(words.type.shape);
  RefTensor result(args.result_type());
  const int64_t depth = result.type.shape[1], block = depth / scales.type.shape[1];
  ops::for_each_index(result.type.shape, [&](const Shape& index, int64_t at) {
    const int64_t row = index[0], part = index[1] / shape.lanes, nibble = part % kNibbles;
    const auto word = static_cast<uint32_t>(words.i[shape.first(row, part / kNibbles) + index[1] % shape.lanes]);
    const int64_t digit = (word >> (4 * nibble)) & 15U;
    const int64_t zero = args.inputs.size() == 3 ? args.inputs[2].i[at / block] : 0;
    const double q = static_cast<double>(digit - ops::kNibbleOffset - zero);
    result.f[at] = round_to(DType::kF32, q * scales.f[at / block]);
  });
  return {result};
}

loops::Expr element(loops::ElementArgs& args) {
  using loops::Index, loops::Scalar;
  loops::KernelBuilder& b = args.b;
  const WordShape shape(args.op.operand(0)->type.shape);
  const int64_t lanes = shape.lanes;
  const int64_t block = args.op.result()->type.shape[1] / args.op.operand(1)->type.shape[1];
  const Index &row = args.index[0], &k = args.index[1];
  const Index part = b.divide(k, lanes), group = b.divide(part, kNibbles), stretch = b.divide(row, shape.beside);
  const std::vector<Index> at_block{row, b.divide(k, block)};
  const Scalar word(b, args.operand_at(0, {stretch, group, row - stretch * shape.beside, k - part * lanes}));
  const Scalar nibble(b, b.index_value(part - group * kNibbles, DType::kI32));
  Scalar q = ((word >> nibble * 4) & 15).convert(DType::kF32) - ops::kNibbleOffset;
  if (args.op.operands.size() == 3) q = q - Scalar(b, args.operand_at(2, at_block)).convert(DType::kF32);
  return q * Scalar(b, args.operand_at(1, at_block));
}

std::vector<Sample> samples() {
  const auto sample = [](int rows, int beside, int words, int lanes, int blocks, bool has_zeros) {
    const std::string w = fmt::format("tensor<{}x{}x{}x{}xi32>", rows / beside, words, beside, lanes);
    const std::string s = fmt::format("tensor<{}x{}xf32>", rows, blocks),
                      z = fmt::format("tensor<{}x{}xi8>", rows, blocks);
    const std::string to = fmt::format("tensor<{}x{}xf32>", rows, words * lanes * kNibbles);
    return Sample{.text = ops::single_op(fmt::format("%w: {}, %s: {}{}", w, s, has_zeros ? ", %z: " + z : ""),
                                         fmt::format("ingot.unpack_nibbles %w, %s{} : ({}, {}{}) -> {}",
                                                     has_zeros ? ", %z" : "", w, s, has_zeros ? ", " + z : "", to),
                                         to),
                  .integer_low = -(int64_t{1} << 31),
                  .integer_high = (int64_t{1} << 31) - 1};
  };
  return {sample(3, 1, 2, 16, 8, false), sample(6, 2, 2, 16, 4, true), sample(5, 1, 1, 4, 1, true),
          sample(8, 4, 6, 8, 2, false),  sample(2, 2, 1, 4, 8, true),  sample(0, 1, 1, 4, 2, false)};
}

}  // namespace

extern const OpDef kUnpackNibbles = {
    .name = "ingot.unpack_nibbles",
    .doc =
        "(q - zero) scale, for each row: word l of a group of L has elements l, l + L, ... l + 7 L of 8 L, as "
        "integers q from -8 to 7 and 8 more, the first as its lowest bits. Words are [rows / R, groups, R, L]: R rows "
        "lie side by side. Scales and zeros, if there are any, belong to blocks of a row.",
    .assembly = "operands attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .zero_gradient = true,
    .samples = samples,
    .element = element,
    .flops = 2,
};

}  // namespace ingot::unpack_nibbles_op
