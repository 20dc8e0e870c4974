// stablehlo.dynamic_broadcast_in_dim: broadcast_in_dim to the shape that an operand says.
#include "aot/ops/support/dynamic.h"
#include "aot/ops/support/infer.h"

namespace ingot::dynamic_broadcast_in_dim_op {
namespace {

constexpr const char* kDims = "broadcast_dimensions";

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 2);
  const TensorType& result = ops::declared_like(args, args.operands[0]);
  ops::check_int_list(args, 1, "the shape", result.rank());
  const std::vector<int64_t> dims = args.attrs().ints(kDims);
  ops::check_one_each(args, kDims, dims, args.operands[0].rank());
  ops::check_dims(args, kDims, dims, result.rank());
  return {result};
}

Value* make(GraphBuilder& b, const Op& op, const Values& operands, const ops::DynamicOperands& known) {
  return ops::broadcast_in_dim(b, operands[0], known.result_shape(1), op.attrs().ints(kDims));
}

std::vector<Sample> samples() {
  return {
      ops::dynamic_sample("%x: tensor<3x1xf32>",
                          "  %s = stablehlo.constant dense<[3, 2, 4]> : tensor<3xi64>\n"
                          "  %r = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 2] : (tensor<3x1xf32>, "
                          "tensor<3xi64>) -> tensor<3x2x4xf32>",
                          "tensor<3x2x4xf32>"),
      ops::dynamic_sample("%x: tensor<f64>, %s: tensor<1xi32>",
                          "  %r = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [] : (tensor<f64>, tensor<1xi32>) "
                          "-> tensor<5xf64>",
                          "tensor<5xf64>"),
  };
}

}  // namespace

extern const OpDef kDynamicBroadcastInDim = ops::dynamic<make>({
    .name = "stablehlo.dynamic_broadcast_in_dim",
    .doc = "x repeated to the shape that its second operand says.",
    .assembly = "operands `,` `dims` `=` ints(broadcast_dimensions) attr-dict :functional",
    .infer = infer,
    .samples = samples,
});

}  // namespace ingot::dynamic_broadcast_in_dim_op
