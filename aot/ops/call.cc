// func.call: the results of a function of the same module. A pass inlines it.
#include "aot/ops/support/callee.h"

namespace ingot::call_op {
namespace {

std::vector<RefTensor> evaluate(const EvaluateArgs& args) { return run_callee(args, "callee"); }

std::vector<Sample> samples() { return {sample_of_call("call @twice(%x)")}; }

}  // namespace

extern const OpDef kCall = {
    .name = "func.call",
    .doc = "The results of a function of the same module.",
    .assembly = "symbol(callee) `(` operands `)` attr-dict :functional",
    .infer = declared_results,
    .evaluate = evaluate,
    .samples = samples,
    .root = KernelRoot::kNone,
    .infers_dynamic_shapes = true,
    .infer_sees_quantized = true,
};

}  // namespace ingot::call_op
