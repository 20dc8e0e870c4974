// stablehlo.after_all and create_token: a token that comes after others. ingot runs a program's ops in an order in
// which each has what it reads; nothing else happens outside, so the pass drop_tokens removes all tokens.
#include "aot/graph/op.h"
#include "aot/ops/support/token.h"

namespace ingot::after_all_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  for (const TensorType& type : args.operands) {
    if (!is_token(type.dtype)) args.fail("takes tokens, not " + to_string(type));
  }
  return {ops::token_type()};
}

std::vector<RefTensor> evaluate(const EvaluateArgs&) { return {RefTensor(ops::token_type())}; }

Sample sample(const std::string& ops) {
  return {.text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n" + ops + "  return %x : tensor<2xf32>\n}\n",
          .differentiable = false};
}

std::vector<Sample> after_all_samples() {
  return {
      sample("  %0 = stablehlo.after_all : !stablehlo.token\n"
             "  %1 = stablehlo.after_all %0, %0 : !stablehlo.token\n")};
}

std::vector<Sample> create_token_samples() { return {sample("  %0 = stablehlo.create_token : !stablehlo.token\n")}; }

constexpr OpDef token(OpDef def) {
  def.infer = infer;
  def.evaluate = evaluate;
  def.zero_gradient = true;
  def.root = KernelRoot::kNone;
  return def;
}

}  // namespace

extern const OpDef kAfterAll = token({
    .name = "stablehlo.after_all",
    .doc = "A token that comes after its operands.",
    .assembly = "operands attr-dict :result",
    .samples = after_all_samples,
});

extern const OpDef kCreateToken = token({
    .name = "stablehlo.create_token",
    .doc = "A token that comes after nothing.",
    .assembly = "attr-dict :result",
    .samples = create_token_samples,
});

}  // namespace ingot::after_all_op
