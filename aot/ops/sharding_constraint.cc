// sdy.sharding_constraint: where a tensor lies among devices. There is one, so it is its operand.
#include "aot/graph/op.h"

namespace ingot::sharding_constraint_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) { return {args.operands.begin(), args.operands.end()}; }

std::vector<RefTensor> evaluate(const EvaluateArgs& args) { return {args.inputs.begin(), args.inputs.end()}; }

Values expand(ExpandArgs& args) { return args.op.operands; }

Values gradient(GradientArgs& args) { return {args.result_gradients.begin(), args.result_gradients.end()}; }

std::vector<Sample> samples() {
  return {{.text = "module {\n"
                   "  sdy.mesh @mesh = <[\"x\"=1]> {jax.axes = []}\n"
                   "  func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
                   "    %0 = sdy.sharding_constraint %x <@mesh, [{\"x\"}, {}]> : tensor<2x3xf32>\n"
                   "    return %0 : tensor<2x3xf32>\n"
                   "  }\n"
                   "}\n"}};
}

}  // namespace

extern const OpDef kShardingConstraint = {
    .name = "sdy.sharding_constraint",
    .doc = "Its operand; says where it lies among devices.",
    .assembly = "operands custom(sharding) attr-dict :result",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kNone,
    .keeps_bits = true,
    .infer_sees_quantized = true,
};

}  // namespace ingot::sharding_constraint_op
