// stablehlo.dynamic_reshape: the same elements in the shape that an operand says.
#include <fmt/format.h>

#include "aot/ops/support/dynamic.h"
#include "aot/ops/support/infer.h"

namespace ingot::dynamic_reshape_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 2);
  const TensorType& result = ops::declared_like(args, args.operands[0]);
  ops::check_int_list(args, 1, "the shape", result.rank());
  return {result};
}

Value* make(GraphBuilder& b, const Op&, const Values& operands, const ops::DynamicOperands& known) {
  return ops::reshape(b, operands[0], known.result_shape(1));
}

std::vector<Sample> samples() {
  return {
      ops::dynamic_sample("%x: tensor<2x3xf32>",
                          "  %s = stablehlo.constant dense<[3, 2]> : tensor<2xi64>\n"
                          "  %r = stablehlo.dynamic_reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> "
                          "tensor<3x2xf32>",
                          "tensor<3x2xf32>"),
      ops::dynamic_sample("%x: tensor<4xi32>, %s: tensor<2xi32>",
                          "  %r = stablehlo.dynamic_reshape %x, %s : (tensor<4xi32>, tensor<2xi32>) -> "
                          "tensor<1x4xi32>",
                          "tensor<1x4xi32>"),
  };
}

}  // namespace

extern const OpDef kDynamicReshape = ops::dynamic<make>({
    .name = "stablehlo.dynamic_reshape",
    .doc = "The elements of x in the shape that its second operand says.",
    .assembly = "operands attr-dict :functional",
    .infer = infer,
    .samples = samples,
});

}  // namespace ingot::dynamic_reshape_op
