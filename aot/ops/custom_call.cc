// stablehlo.custom_call: something that only its target's name says. Known targets:
//   check.*   a test's expectation, as the ops of check.cc; no results
//   Sharding, annotate_device_placement and their like place a tensor among devices: with one device, the tensor itself
#include <algorithm>

#include "aot/ops/callee.h"

namespace ingot {
namespace {

constexpr std::string_view kPlacements[] = {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
                                            "annotate_device_placement"};

bool is_placement(std::string_view target) {
  return std::find(std::begin(kPlacements), std::end(kPlacements), target) != std::end(kPlacements);
}

std::vector<TensorType> infer(const InferArgs& args) {
  if (is_placement(args.attrs().string("call_target_name"))) {
    if (args.operands.size() != 1) args.fail("this target takes one operand");
    return {args.operands[0]};
  }
  return declared_results(args);
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const std::string& target = args.attrs().string("call_target_name");
  if (is_placement(target)) return {args.inputs[0]};
  if (target.starts_with("check.") && args.op.results.empty()) return {};
  throw_limit(args.op.location, "custom_call @" + target +
                                    " is not known here; express it in StableHLO ops, or as a "
                                    "stablehlo.composite with a decomposition");
}

Values gradient(GradientArgs& args) {
  const std::string& target = args.op.attrs().string("call_target_name");
  if (!is_placement(target)) throw_error(args.op.location, "custom_call @" + target + " has no gradient");
  return {args.dy()};
}

std::vector<Sample> samples() {
  return {{.text = "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
                   "  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = \"{replicated}\"} : "
                   "(tensor<2x3xf32>) -> tensor<2x3xf32>\n"
                   "  return %0 : tensor<2x3xf32>\n"
                   "}\n"}};
}

}  // namespace

extern const OpDef kCustomCall = {
    .name = "stablehlo.custom_call",
    .doc = "What the named target computes; few targets are known.",
    .assembly = "symbol(call_target_name) `(` operands `)` attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .samples = samples,
    .root = KernelRoot::kNone,
    .has_side_effect = true,
};

}  // namespace ingot
