#include "aot/ops/callee.h"

namespace ingot {

std::vector<TensorType> declared_results(const InferArgs& args) { return {args.declared.begin(), args.declared.end()}; }

std::vector<RefTensor> run_callee(const EvaluateArgs& args, std::string_view attribute) {
  const std::string& name = args.attrs().string(attribute);
  const Function* callee = module_of(&args.op)->find(name);
  if (!callee) throw_error(args.op.location, std::string(args.op.name()) + ": there is no function @" + name);
  return args.run(callee->body, {args.inputs.begin(), args.inputs.end()});
}

}  // namespace ingot
