#include "aot/graph/op.h"
#include "aot/ops/support/complex/split.h"

namespace ingot::optimization_barrier_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) { return {args.operands.begin(), args.operands.end()}; }

std::vector<RefTensor> evaluate(const EvaluateArgs& args) { return {args.inputs.begin(), args.inputs.end()}; }

Values gradient(GradientArgs& args) { return {args.result_gradients.begin(), args.result_gradients.end()}; }

std::vector<Sample> samples() {
  return {{.text = "func.func @main(%x: tensor<2x3xf32>, %y: tensor<i32>) -> (tensor<2x3xf32>, tensor<i32>) {\n"
                   "  %0:2 = stablehlo.optimization_barrier %x, %y : tensor<2x3xf32>, tensor<i32>\n"
                   "  return %0#0, %0#1 : tensor<2x3xf32>, tensor<i32>\n"
                   "}\n"}};
}

}  // namespace

extern const OpDef kOptimizationBarrier = {
    .name = "stablehlo.optimization_barrier",
    .doc = "Its operands; what comes after is computed after all of them.",
    .assembly = "operands attr-dict :operands",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .split = ops::split_doubled,
    .samples = samples,
    .root = KernelRoot::kNone,
    .infers_dynamic_shapes = true,
    .keeps_bits = true,
    .infer_sees_quantized = true,
};

}  // namespace ingot::optimization_barrier_op
