#include <fmt/format.h>

#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/elementwise.h"
#include "aot/ops/support/infer.h"

namespace ingot::select_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 3);
  const TensorType& type = args.operands[1];
  if (args.operands[2] != type) {
    args.fail(
        fmt::format("both values must have one type, not {} and {}", to_string(type), to_string(args.operands[2])));
  }
  const TensorType& predicate = args.operands[0];
  if (predicate != TensorType{DType::kI1, type.shape} && predicate != TensorType{DType::kI1, {}}) {
    args.fail(fmt::format("the predicate must be {} or tensor<i1>, not {}", to_string({DType::kI1, type.shape}),
                          to_string(predicate)));
  }
  return {type};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& predicate = args.inputs[0];
  RefTensor y(args.result_type());
  for (int64_t k = 0; k < y.elements(); ++k) {
    const bool is_first = predicate.i[predicate.type.shape.empty() ? 0 : k];
    y.copy_element(k, args.inputs[is_first ? 1 : 2], k);
  }
  return {std::move(y)};
}

// dx = dz where the predicate holds, dy = dz where it does not
Values gradient(GradientArgs& args) {
  const Term predicate(args.b, args.operand(0)), dz(args.b, args.dy());
  return {nullptr, args.needed[1] ? static_cast<Value*>(where(predicate, dz, 0)) : nullptr,
          args.needed[2] ? static_cast<Value*>(where(predicate, 0, dz)) : nullptr};
}

loops::Expr element(loops::ElementArgs& args) {
  return args.b.apply(ScalarOp::kSelect, {operand_or_scalar(args, 0), args.operand(1), args.operand(2)});
}

std::vector<Sample> samples() {
  const auto sample = [](const Shape& predicate_shape, const TensorType& type) {
    const TensorType predicate{DType::kI1, predicate_shape};
    return sample_text({predicate, type, type}, type,
                       fmt::format("stablehlo.select %a0, %a1, %a2 : {}, {}", to_string(predicate), to_string(type)));
  };
  std::vector<Sample> samples;
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kI1, DType::kI4, DType::kUI64, DType::kC64}) {
    samples.push_back({.text = sample({37}, {dtype, {37}}), .specials = true, .differentiable = false});
    samples.push_back({.text = sample({}, {dtype, {5, 7}}), .specials = true, .differentiable = false});
  }
  samples.push_back({.text = sample({2, 3}, {DType::kF64, {2, 3}})});
  samples.push_back({.text = sample({}, {DType::kF64, {2, 3}})});
  return samples;
}

}  // namespace

extern const OpDef kSelect = {
    .name = "stablehlo.select",
    .doc = "z = x where the predicate holds, else y; for operands predicate, x, y. The predicate may be a scalar.",
    .assembly = "operands attr-dict :select",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .split = ops::split_each,
    .samples = samples,
    .element = element,
    .is_elementwise = true,
    .keeps_bits = true,
};

}  // namespace ingot::select_op
