#include "aot/ops/support/build.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::chlo_constant_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 0);
  return {args.attrs().literal("value")->type};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) { return {from_literal(*args.attrs().literal("value"))}; }

Values expand(ExpandArgs& args) { return {ops::constant(args.b, args.attrs().literal("value"))}; }

std::vector<Sample> samples() {
  return {{.text = ops::single_op("", "chlo.constant dense<[1, 2, 3]> : tensor<3xi32>", "tensor<3xi32>")}};
}

}  // namespace

extern const OpDef kChloConstant = {
    .name = "chlo.constant",
    .doc = "The value that is given.",
    .assembly = "attr-dict custom(constant)",
    .infer = infer,
    .evaluate = evaluate,
    .zero_gradient = true,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kNone,
};

}  // namespace ingot::chlo_constant_op
