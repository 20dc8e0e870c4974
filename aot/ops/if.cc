// stablehlo.if: the results of one of two regions, by a truth value.
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/infer.h"

namespace ingot::if_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  if (args.operands[0] != TensorType{DType::kI1, {}}) args.fail("the predicate must be a tensor<i1>");
  if (args.regions.size() != 2) args.fail("needs two regions: for true and for false");
  return ops::branch_results(args);
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  return args.run(args.op.region(args.inputs[0].i[0] ? 0 : 1), {});
}

std::vector<Sample> samples() {
  return {{.text = R"(func.func @main(%p: tensor<i1>, %x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.add %x, %y : tensor<5xf32>
    stablehlo.return %1 : tensor<5xf32>
  }, {
    stablehlo.return %y : tensor<5xf32>
  }) : (tensor<i1>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
)",
           .differentiable = false}};
}

}  // namespace

extern const OpDef kIf = {
    .name = "stablehlo.if",
    .doc = "The results of the first branch where the predicate is true, else of the second.",
    .infer = infer,
    .evaluate = evaluate,
    .split = ops::split_doubled,
    .samples = samples,
    .root = KernelRoot::kControlFlow,
    .infers_dynamic_shapes = true,
    .infer_sees_quantized = true,
};

}  // namespace ingot::if_op
