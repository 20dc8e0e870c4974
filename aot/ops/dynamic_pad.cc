// stablehlo.dynamic_pad: pad by amounts that operands say.
#include "aot/ops/support/dynamic.h"
#include "aot/ops/support/infer.h"

namespace ingot::dynamic_pad_op {
namespace {

enum Operand { kX, kValue, kLow, kHigh, kInterior, kOperands };

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, kOperands);
  ops::check_scalar(args, "the padding value", args.operands[kValue]);
  ops::check_same_dtype(args, args.operands[kX], args.operands[kValue]);
  const int rank = args.operands[kX].rank();
  ops::check_int_list(args, kLow, "the padding before", rank);
  ops::check_int_list(args, kHigh, "the padding after", rank);
  ops::check_int_list(args, kInterior, "the padding between", rank);
  return {ops::declared_like(args, args.operands[kX])};
}

Value* make(GraphBuilder& b, const Op&, const Values& operands, const ops::DynamicOperands& known) {
  return ops::pad(b, operands[kX], operands[kValue], known.ints(kLow), known.ints(kHigh), known.ints(kInterior));
}

std::vector<Sample> samples() {
  return {ops::dynamic_sample("%x: tensor<2x4xf32>, %v: tensor<f32>",
                              "  %low = stablehlo.constant dense<[1, -1]> : tensor<2xi64>\n"
                              "  %high = stablehlo.constant dense<[0, 2]> : tensor<2xi64>\n"
                              "  %interior = stablehlo.constant dense<[1, 0]> : tensor<2xi64>\n"
                              "  %r = stablehlo.dynamic_pad %x, %v, %low, %high, %interior : (tensor<2x4xf32>, "
                              "tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<4x5xf32>",
                              "tensor<4x5xf32>")};
}

}  // namespace

extern const OpDef kDynamicPad = ops::dynamic<make>({
    .name = "stablehlo.dynamic_pad",
    .doc = "x with as many padding values before, after and between its elements as operands say.",
    .assembly = "operands attr-dict :functional",
    .infer = infer,
    .samples = samples,
});

}  // namespace ingot::dynamic_pad_op
