// interpreter.probe and interpreter.print: they show a value to whoever debugs a program in an interpreter of
// StableHLO. Here they show nothing.
#include "aot/ops/support/build.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::probe_op {
namespace {

std::vector<TensorType> infer_probe(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  return {args.operands[0]};
}

std::vector<TensorType> infer_print(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  return {};
}

std::vector<RefTensor> evaluate_probe(const EvaluateArgs& args) { return {args.inputs[0]}; }
std::vector<RefTensor> evaluate_print(const EvaluateArgs&) { return {}; }

Values expand_probe(ExpandArgs& args) { return {args.operand(0)}; }
Values expand_print(ExpandArgs&) { return {}; }

Values gradient(GradientArgs& args) { return {args.dy()}; }

std::vector<Sample> probe_samples() {
  return {{.text = ops::single_op("%x: tensor<3xf32>", "interpreter.probe %x, probe_id = \"x\" : tensor<3xf32>",
                                  "tensor<3xf32>")}};
}

std::vector<Sample> print_samples() {
  return {{.text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
                   "  interpreter.print %x : tensor<3xf32>\n"
                   "  return %x : tensor<3xf32>\n"
                   "}\n",
           .differentiable = false}};
}

}  // namespace

extern const OpDef kProbe = {
    .name = "interpreter.probe",
    .doc = "Its operand.",
    .assembly = "operands `,` `probe_id` `=` string(probe_id) attr-dict :same",
    .infer = infer_probe,
    .evaluate = evaluate_probe,
    .gradient = gradient,
    .expand = expand_probe,
    .samples = probe_samples,
    .root = KernelRoot::kNone,
    .infers_dynamic_shapes = true,
};

extern const OpDef kPrint = {
    .name = "interpreter.print",
    .doc = "Nothing.",
    .assembly = "operands attr-dict :same",
    .infer = infer_print,
    .evaluate = evaluate_print,
    .zero_gradient = true,
    .expand = expand_print,
    .samples = print_samples,
    .root = KernelRoot::kNone,
    .has_side_effect = true,
    .infers_dynamic_shapes = true,
};

}  // namespace ingot::probe_op
