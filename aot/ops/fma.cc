#include "aot/ops/support/elementwise.h"

namespace ingot::fma_op {
namespace {

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  RefTensor y(args.result_type());
  for (size_t k = 0; k < y.f.size(); ++k)
    y.f[k] = std::fma(args.inputs[0].f[k], args.inputs[1].f[k], args.inputs[2].f[k]);
  return {std::move(y)};
}

// dx = dw y, dy = dw x, dz = dw
Values gradient(GradientArgs& args) {
  const Term x(args.b, args.operand(0)), y(args.b, args.operand(1)), dw(args.b, args.dy());
  return {args.needed[0] ? static_cast<Value*>(dw * y) : nullptr,
          args.needed[1] ? static_cast<Value*>(dw * x) : nullptr, dw};
}

std::vector<Sample> samples() {
  const auto text = [](const TensorType& type) {
    return sample_text({type, type, type}, type, "ingot.fma %a0, %a1, %a2 : " + to_string(type));
  };
  std::vector<Sample> samples;
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    samples.push_back({.text = text({dtype, {37}}), .specials = true, .differentiable = false});
  }
  samples.push_back({.text = text({DType::kF64, {2, 3}})});
  return samples;
}

}  // namespace

extern const OpDef kFma = {
    .name = "ingot.fma",
    .doc = "w = x y + z, rounded once; for operands x, y, z.",
    .assembly = "operands attr-dict :same",
    .infer = same_as_operand<kFloats, 3>,
    .evaluate = evaluate,
    .gradient = gradient,
    .samples = samples,
    .element = element_of<ScalarOp::kFma>,
    .ulp = {.f32 = 0.51, .f64 = 0.5},
    .is_elementwise = true,
};

}  // namespace ingot::fma_op
