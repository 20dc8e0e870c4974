// stablehlo.dynamic_gather: gather of windows whose sizes an operand says.
#include "aot/ops/support/dynamic.h"
#include "aot/ops/support/infer.h"

namespace ingot::dynamic_gather_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 3);
  ops::check_int_list(args, 2, "the slice sizes", args.operands[0].rank());
  return {ops::declared_like(args, args.operands[0])};
}

Value* make(GraphBuilder& b, const Op& op, const Values& operands, const ops::DynamicOperands& known) {
  return ops::gather(b, operands[0], operands[1], ops::read_gather_dims(op.attrs()), known.ints(2));
}

std::vector<Sample> samples() {
  Sample sample = ops::dynamic_sample(
      "%x: tensor<7x9xf32>, %i: tensor<4x1xi32>",
      "  %s = stablehlo.constant dense<[1, 9]> : tensor<2xi64>\n"
      "  %r = \"stablehlo.dynamic_gather\"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
      "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<7x9xf32>, "
      "tensor<4x1xi32>, tensor<2xi64>) -> tensor<4x9xf32>",
      "tensor<4x9xf32>");
  sample.integer_low = -2;
  sample.integer_high = 9;
  return {sample};
}

}  // namespace

extern const OpDef kDynamicGather = ops::dynamic<make>({
    .name = "stablehlo.dynamic_gather",
    .doc = "Windows of the first operand, of the sizes that the third says, from where the second says.",
    .infer = infer,
    .samples = samples,
});

}  // namespace ingot::dynamic_gather_op
