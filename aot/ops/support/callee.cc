#include "aot/ops/support/callee.h"

namespace ingot {

std::vector<TensorType> declared_results(const InferArgs& args) { return {args.declared.begin(), args.declared.end()}; }

std::vector<RefTensor> run_callee(const EvaluateArgs& args, std::string_view attribute) {
  const std::string& name = args.attrs().string(attribute);
  const Function* callee = module_of(&args.op)->find(name);
  if (!callee) throw_error(args.op.location, std::string(args.op.name()) + ": there is no function @" + name);
  return args.run(callee->body, {args.inputs.begin(), args.inputs.end()});
}

Sample sample_of_call(std::string_view call) {
  return {.text =
              "func.func private @twice(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
              "  %0 = stablehlo.add %x, %x : tensor<2x3xf32>\n"
              "  return %0 : tensor<2x3xf32>\n"
              "}\n"
              "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
              "  %0 = " +
              std::string(call) +
              " : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
              "  return %0 : tensor<2x3xf32>\n"
              "}\n",
          .differentiable = false};
}

}  // namespace ingot
