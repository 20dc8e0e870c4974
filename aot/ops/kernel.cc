// ingot.kernel: a group of ops that becomes one kernel. Its region is its definition.
#include "aot/graph/op.h"

namespace ingot::kernel_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  if (args.regions.size() != 1) args.fail("needs one region");
  const Block& body = *args.regions[0];
  if (body.arguments.size() != args.operands.size()) args.fail("the region must have one argument for each operand");
  for (size_t i = 0; i < args.operands.size(); ++i) {
    if (body.arguments[i]->type != args.operands[i]) {
      args.fail("operand " + std::to_string(i) + " is " + to_string(args.operands[i]) + ", the region's argument " +
                to_string(body.arguments[i]->type));
    }
  }
  std::vector<TensorType> results;
  for (const Value* value : body.terminator()->operands) results.push_back(value->type);
  return results;
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  return args.run(args.op.region(), {args.inputs.begin(), args.inputs.end()});
}

}  // namespace

extern const OpDef kKernel = {
    .name = "ingot.kernel",
    .doc = "A group of ops that is compiled to one kernel; its region, which captures nothing, says what it computes.",
    .infer = infer,
    .evaluate = evaluate,
    .root = KernelRoot::kNone,
    .is_isolated = true,
};

}  // namespace ingot::kernel_op
