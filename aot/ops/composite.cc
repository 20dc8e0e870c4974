// stablehlo.composite: an op that a function spells out. A back end may implement it whole; a pass inlines the others.
#include "aot/ops/support/callee.h"

namespace ingot::composite_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  args.attrs().string("name");
  args.attrs().string("decomposition");
  return declared_results(args);
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) { return run_callee(args, "decomposition"); }

std::vector<Sample> samples() {
  return {sample_of_call("stablehlo.composite \"sample.twice\" %x {decomposition = @twice}")};
}

}  // namespace

extern const OpDef kComposite = {
    .name = "stablehlo.composite",
    .doc = "An op by its name, with the function that says what it computes.",
    .assembly = "string(name) operands attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .samples = samples,
    .root = KernelRoot::kNone,
    .infers_dynamic_shapes = true,
    .infer_sees_quantized = true,
};

}  // namespace ingot::composite_op
