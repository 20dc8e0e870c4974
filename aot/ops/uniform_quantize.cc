// stablehlo.uniform_quantize and uniform_dequantize: between floats and the quantized types that stand for them. What
// is rounded is what every op's result is: its type says how.
#include <fmt/format.h>

#include "aot/graph/quantization.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::uniform_quantize_op {
namespace {

const TensorType& same_shape(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const TensorType& type = args.declared_result();
  if (type.dtype == args.operands[0].dtype && type.shape == args.operands[0].shape) return type;
  args.fail(fmt::format("gives a tensor of the operand's shape and expressed type, not {} from {}", to_string(type),
                        to_string(args.operands[0])));
}

std::vector<TensorType> infer_quantized(const InferArgs& args) {
  const TensorType& type = same_shape(args);
  if (!type.quantization) args.fail(fmt::format("gives a quantized tensor, not {}", to_string(type)));
  return {type};
}

std::vector<TensorType> infer_dequantized(const InferArgs& args) {
  const TensorType& type = same_shape(args);
  if (type.quantization || !args.operands[0].quantization) {
    args.fail(fmt::format("gives floats for a quantized tensor, not {} for {}", to_string(type),
                          to_string(args.operands[0])));
  }
  return {type};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  RefTensor result(args.result_type());
  result.f = args.inputs[0].f;
  return {std::move(result)};
}

std::vector<Sample> samples(std::string_view op, std::string_view from, std::string_view to) {
  return {{.text = fmt::format("func.func @main(%x: {1}) -> {2} {{\n"
                               "  %0 = stablehlo.{0} %x : ({1}) -> {2}\n"
                               "  return %0 : {2}\n"
                               "}}\n",
                               op, from, to),
           .differentiable = false}};
}

constexpr std::string_view kFloats = "tensor<4x2xf32>";
constexpr std::string_view kQuantized = "tensor<4x2x!quant.uniform<i8:f32:1, {0.1:-30,0.5:-20}>>";

std::vector<Sample> quantize_samples() { return samples("uniform_quantize", kFloats, kQuantized); }
std::vector<Sample> dequantize_samples() { return samples("uniform_dequantize", kQuantized, kFloats); }

}  // namespace

extern const OpDef kUniformQuantize = {
    .name = "stablehlo.uniform_quantize",
    .doc = "The nearest values that the result's integers stand for, of floats or of another quantized tensor.",
    .assembly = "operands attr-dict :functional",
    .infer = infer_quantized,
    .evaluate = evaluate,
    .zero_gradient = true,
    .samples = quantize_samples,
    .root = KernelRoot::kNone,
    .infer_sees_quantized = true,
};

extern const OpDef kUniformDequantize = {
    .name = "stablehlo.uniform_dequantize",
    .doc = "The floats for which a quantized tensor's integers stand: (integer - zero point) * scale.",
    .assembly = "operands attr-dict :functional",
    .infer = infer_dequantized,
    .evaluate = evaluate,
    .zero_gradient = true,
    .samples = dequantize_samples,
    .root = KernelRoot::kNone,
    .infer_sees_quantized = true,
};

}  // namespace ingot::uniform_quantize_op
