// ingot.unpack_nibbles: weights that are kept as integers of 4 bits, as floats.
#include <fmt/format.h>

#include "aot/base/divide.h"
#include "aot/graph/literal.h"
#include "aot/loops/algebra.h"
#include "aot/loops/element.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/nibbles.h"
#include "aot/ops/support/samples.h"

namespace ingot::unpack_nibbles_op {
namespace {

using ops::kNibbleColumns;
using ops::kNibbles;
using ops::NibbleShape;

std::vector<TensorType> infer(const InferArgs& args) {
  if (args.operands.size() < 2 || args.operands.size() > 3) args.fail("takes words, scales and perhaps zeros");
  const TensorType &words = args.operands[0], &scales = args.operands[1];
  const int64_t columns = args.attrs().integer("columns");
  const auto are_panels = [](const TensorType& type) { return type.rank() == 3 && type.shape[2] == kNibbleColumns; };
  if (words.dtype != DType::kI32 || !are_panels(words))
    args.fail(fmt::format("words are {}, and not i32 in panels of {} columns", to_string(words), kNibbleColumns));
  if (scales.dtype != DType::kF32 || !are_panels(scales) || scales.shape[0] != words.shape[0])
    args.fail(fmt::format("scales are {}, and not f32 in as many panels of {} columns as the words", to_string(scales),
                          kNibbleColumns));
  if (args.operands.size() == 3 && args.operands[2] != TensorType{DType::kI8, scales.shape})
    args.fail(fmt::format("zeros are {}, and not i8 of the scales' shape", to_string(args.operands[2])));
  if (columns < 0 || divide_up(columns, kNibbleColumns) != words.shape[0])
    args.fail(fmt::format("{} columns are not those of {} panels", columns, words.shape[0]));
  const int64_t depth = words.shape[1] * kNibbles, blocks = scales.shape[1];
  if (blocks <= 0 || depth % blocks != 0 || depth / blocks % kNibbles != 0)
    args.fail(fmt::format("a depth of {} is no {} blocks of whole words of {}", depth, blocks, kNibbles));
  return {{DType::kF32, {depth, columns}}};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor &words = args.inputs[0], &scales = args.inputs[1];
  const NibbleShape shape(words.type.shape, scales.type.shape);
  RefTensor result(args.result_type());
  ops::for_each_index(result.type.shape, [&](const Shape& index, int64_t at) {
    const int64_t k = index[0], column = index[1], at_block = shape.scale(column, k);
    const auto word = static_cast<uint32_t>(words.i[shape.word(column, k)]);
    const int64_t digit = (word >> (4 * (k % kNibbles))) & 15U;
    const int64_t zero = args.inputs.size() == 3 ? args.inputs[2].i[at_block] : 0;
    const double q = static_cast<double>(digit - ops::kNibbleOffset - zero);
    result.f[at] = round_to(DType::kF32, q * scales.f[at_block]);
  });
  return {result};
}

loops::Expr element(loops::ElementArgs& args) {
  using loops::Index, loops::Scalar;
  loops::KernelBuilder& b = args.b;
  const NibbleShape shape(args.op.operand(0)->type.shape, args.op.operand(1)->type.shape);
  const Index &k = args.index[0], &column = args.index[1];
  const Index panel = b.divide(column, kNibbleColumns), in_panel = column - panel * kNibbleColumns;
  const Index line = b.divide(k, kNibbles);
  const std::vector<Index> at_block{panel, b.divide(k, shape.block()), in_panel};
  const Scalar word(b, args.operand_at(0, {panel, line, in_panel}));
  const Scalar nibble(b, b.index_value(k - line * kNibbles, DType::kI32));
  Scalar q = ((word >> nibble * 4) & 15).convert(DType::kF32) - ops::kNibbleOffset;
  if (args.op.operands.size() == 3) q = q - Scalar(b, args.operand_at(2, at_block)).convert(DType::kF32);
  return q * Scalar(b, args.operand_at(1, at_block));
}

std::vector<Sample> samples() {
  const auto sample = [](int columns, int words, int blocks, bool has_zeros) {
    const int64_t panels = divide_up(columns, kNibbleColumns);
    const std::string w = fmt::format("tensor<{}x{}x16xi32>", panels, words);
    const std::string s = fmt::format("tensor<{}x{}x16xf32>", panels, blocks),
                      z = fmt::format("tensor<{}x{}x16xi8>", panels, blocks);
    const std::string to = fmt::format("tensor<{}x{}xf32>", words * kNibbles, columns);
    return Sample{
        .text = ops::single_op(fmt::format("%w: {}, %s: {}{}", w, s, has_zeros ? ", %z: " + z : ""),
                               fmt::format("ingot.unpack_nibbles %w, %s{}, columns = {} : ({}, {}{}) -> {}",
                                           has_zeros ? ", %z" : "", columns, w, s, has_zeros ? ", " + z : "", to),
                               to),
        .integer_low = -(int64_t{1} << 31),
        .integer_high = (int64_t{1} << 31) - 1};
  };
  return {sample(16, 4, 1, false), sample(35, 8, 2, true), sample(1, 12, 3, true), sample(48, 3, 3, false),
          sample(0, 4, 1, false)};
}

}  // namespace

extern const OpDef kUnpackNibbles = {
    .name = "ingot.unpack_nibbles",
    .doc =
        "(q - zero) scale, as [depth, columns]: each word has eight neighbours along the depth, as integers q from -8 "
        "to 7 and 8 more, the first as its lowest bits. Words are [panels, depth / 8, 16]: 16 columns lie side by "
        "side, the last panel's past the last column mean nothing. Scales and zeros, if there are any, are [panels, "
        "blocks, 16]: they belong to blocks of the depth.",
    .assembly = "operands `,` `columns` `=` int(columns) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .zero_gradient = true,
    .samples = samples,
    .element = element,
    .flops = 2,
};

}  // namespace ingot::unpack_nibbles_op
