// stablehlo.dynamic_conv: a convolution with the padding that an operand says.
#include <fmt/format.h>

#include "aot/ops/support/dynamic.h"
#include "aot/ops/support/infer.h"

namespace ingot::dynamic_conv_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 3);
  const TensorType& padding = args.operands[2];
  const int64_t spatial = args.operands[0].rank() - 2;
  if (!is_integer(padding.dtype) || padding.rank() != 2 || padding.shape[0] != spatial || padding.shape[1] != 2) {
    args.fail(fmt::format("the padding must be {} x 2 integers, not {}", spatial, to_string(padding)));
  }
  return {args.declared_result()};
}

// A convolution with the same attributes; its result's element type is declared.
Value* make(GraphBuilder& b, const Op& op, const Values& operands, const ops::DynamicOperands& known) {
  const std::vector<int64_t> padding = known.ints(2);
  const TensorType type{DType::kI64, {static_cast<int64_t>(padding.size()) / 2, 2}};
  AttrMap attrs = op.attr_map;
  attrs.insert_or_assign("padding", dense(type, dense_ints(padding)->data));
  const TensorType& result = op.result()->type;
  return b.make(kConvolution, {operands[0], operands[1]}, std::move(attrs),
                {{result.dtype, {}, {}, result.quantization}});
}

std::vector<Sample> samples() {
  return {ops::dynamic_sample(
      "%x: tensor<1x5x4x2xf32>, %w: tensor<3x3x2x3xf32>",
      "  %p = stablehlo.constant dense<[[1, 1], [0, 2]]> : tensor<2x2xi32>\n"
      "  %r = \"stablehlo.dynamic_conv\"(%x, %w, %p) <{batch_group_count = 1 : i64, dimension_numbers = "
      "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_strides = "
      "array<i64: 1, 1>}> : (tensor<1x5x4x2xf32>, tensor<3x3x2x3xf32>, tensor<2x2xi32>) -> tensor<1x5x4x3xf32>",
      "tensor<1x5x4x3xf32>")};
}

}  // namespace

extern const OpDef kDynamicConv = ops::dynamic<make>({
    .name = "stablehlo.dynamic_conv",
    .doc = "A convolution with the padding that its third operand says.",
    .infer = infer,
    .samples = samples,
    .ulp = {.f32 = 4, .f64 = 4, .half = 2},
    .mixes_float_and_quantized = true,
});

}  // namespace ingot::dynamic_conv_op
