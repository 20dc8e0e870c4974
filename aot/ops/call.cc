// func.call: the results of a function of the same module. A pass inlines it.
#include "aot/ops/callee.h"

namespace ingot {
namespace {

std::vector<RefTensor> evaluate(const EvaluateArgs& args) { return run_callee(args, "callee"); }

std::vector<Sample> samples() {
  return {{.text = "func.func private @twice(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
                   "  %0 = stablehlo.add %x, %x : tensor<2x3xf32>\n"
                   "  return %0 : tensor<2x3xf32>\n"
                   "}\n"
                   "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
                   "  %0 = call @twice(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
                   "  return %0 : tensor<2x3xf32>\n"
                   "}\n",
           .differentiable = false}};
}

}  // namespace

extern const OpDef kCall = {
    .name = "func.call",
    .doc = "The results of a function of the same module.",
    .assembly = "symbol(callee) `(` operands `)` attr-dict :functional",
    .infer = declared_results,
    .evaluate = evaluate,
    .samples = samples,
    .root = KernelRoot::kNone,
};

}  // namespace ingot
