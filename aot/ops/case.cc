// stablehlo.case: the results of one of several regions, by an index; the last one where the index names none.
#include <fmt/format.h>

#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/infer.h"

namespace ingot::case_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  if (args.operands[0] != TensorType{DType::kI32, {}}) args.fail("the index must be a tensor<i32>");
  if (args.regions.empty()) args.fail("needs at least one branch");
  return ops::branch_results(args);
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const int64_t index = args.inputs[0].i[0];
  const int64_t last = static_cast<int64_t>(args.op.regions.size()) - 1;
  return args.run(args.op.region(static_cast<int>(index < 0 || index > last ? last : index)), {});
}

std::vector<Sample> samples() {
  return {{.text = R"(func.func @main(%i: tensor<i32>, %x: tensor<5xf32>) -> (tensor<5xf32>, tensor<f32>) {
  %0:2 = "stablehlo.case"(%i) ({
    %1 = stablehlo.add %x, %x : tensor<5xf32>
    %2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    stablehlo.return %1, %2 : tensor<5xf32>, tensor<f32>
  }, {
    %1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    stablehlo.return %x, %1 : tensor<5xf32>, tensor<f32>
  }, {
    %1 = stablehlo.multiply %x, %x : tensor<5xf32>
    %2 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    stablehlo.return %1, %2 : tensor<5xf32>, tensor<f32>
  }) : (tensor<i32>) -> (tensor<5xf32>, tensor<f32>)
  return %0#0, %0#1 : tensor<5xf32>, tensor<f32>
}
)",
           .integer_low = -1,
           .integer_high = 3,
           .differentiable = false}};
}

}  // namespace

extern const OpDef kCase = {
    .name = "stablehlo.case",
    .doc = "The results of branch `index`; of the last branch where there is none of that index.",
    .infer = infer,
    .evaluate = evaluate,
    .split = ops::split_doubled,
    .samples = samples,
    .root = KernelRoot::kControlFlow,
    .infers_dynamic_shapes = true,
    .infer_sees_quantized = true,
};

}  // namespace ingot::case_op
