#include "aot/ops/support/build.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::constant_like_op {
namespace {

// The value as one element: it has a dtype of its own.
LiteralRef element_of(const Attrs& attrs, const Shape& shape) {
  const Attr& value = attrs.at("value");
  if (const auto* number = value.as<FloatAttr>()) return splat({number->dtype, shape}, number->value);
  return splat_int({value.as<IntAttr>() ? value.as<IntAttr>()->dtype : DType::kI64, shape}, attrs.integer("value"));
}

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  return {element_of(args.attrs(), args.operands[0].shape)->type};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  return {from_literal(*element_of(args.attrs(), args.result_type().shape))};
}

Values expand(ExpandArgs& args) {
  return {ops::constant(args.b, element_of(args.attrs(), args.op.result()->type.shape))};
}

std::vector<Sample> samples() {
  const auto sample = [](const std::string& type, const std::string& value) {
    return Sample{
        .text = ops::single_op("%x: " + type,
                               "\"chlo.constant_like\"(%x) {value = " + value + "} : (" + type + ") -> " + type, type)};
  };
  return {sample("tensor<3x5xf32>", "1.5 : f32"), sample("tensor<i32>", "7 : i32")};
}

}  // namespace

extern const OpDef kConstantLike = {
    .name = "chlo.constant_like",
    .doc = "A tensor of x's shape with one value everywhere.",
    .infer = infer,
    .evaluate = evaluate,
    .zero_gradient = true,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kNone,
};

}  // namespace ingot::constant_like_op
