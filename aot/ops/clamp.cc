#include <fmt/format.h>

#include "aot/ops/support/elementwise.h"
#include "aot/ops/support/infer.h"

namespace ingot::clamp_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 3);
  const TensorType& type = args.operands[1];
  if (is_complex(type.dtype)) args.fail(fmt::format("{} has no order", to_string(type)));
  const TensorType scalar{type.dtype, {}};
  for (int i : {0, 2}) {
    if (args.operands[i] != type && args.operands[i] != scalar) {
      args.fail(fmt::format("the {} must be {} or {}, not {}", i == 0 ? "minimum" : "maximum", to_string(type),
                            to_string(scalar), to_string(args.operands[i])));
    }
  }
  return {type};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& low = args.inputs[0];
  const RefTensor& x = args.inputs[1];
  const RefTensor& high = args.inputs[2];
  const DType dtype = x.type.dtype;
  RefTensor y(args.result_type());
  for (int64_t k = 0; k < y.elements(); ++k) {
    const int64_t l = low.type.shape.empty() ? 0 : k;
    const int64_t h = high.type.shape.empty() ? 0 : k;
    if (y.is_float()) {
      y.f[k] = minimum(maximum(x.f[k], low.f[l]), high.f[h]);
    } else {
      const int64_t at_least = less(x.i[k], low.i[l], dtype) ? low.i[l] : x.i[k];
      y.i[k] = less(high.i[h], at_least, dtype) ? high.i[h] : at_least;
    }
  }
  return {std::move(y)};
}

// dx = dy where low <= x <= high; dlow = dy where x < low <= high; dhigh = dy where max(x, low) > high; for scalar
// bounds the sum of those
Values gradient(GradientArgs& args) {
  GraphBuilder& b = args.b;
  const Term x(b, args.operand(1)), dy(b, args.dy());
  const auto spread = [&](int i) { return Term(b, ops::broadcast_scalar(b, args.operand(i), x.shape())); };
  const auto bound = [&](int i) {
    return args.operand(i)->type.shape == x.shape() ? Term(b, args.operand(i)) : spread(i);
  };
  const auto bound_gradient = [&](int i, Term gradient) -> Value* {
    const bool is_spread = args.operand(i)->type.shape != x.shape();
    return is_spread ? ops::reduce(b, kAdd, gradient, all_dims(x.shape())) : static_cast<Value*>(gradient);
  };
  const Term low = bound(0), high = bound(2);
  return {args.needed[0] ? bound_gradient(0, where(both(x < low, low <= high), dy, 0)) : nullptr,
          args.needed[1] ? static_cast<Value*>(where(both(low <= x, x <= high), dy, 0)) : nullptr,
          args.needed[2] ? bound_gradient(2, where(x.binary(kMaximum, low) > high, dy, 0)) : nullptr};
}

loops::Expr element(loops::ElementArgs& args) {
  const Scalar low(args.b, operand_or_scalar(args, 0)), x(args.b, args.operand(1)),
      high(args.b, operand_or_scalar(args, 2));
  return minimum(maximum(x, low), high);
}

std::vector<Sample> samples() {
  const auto text = [](const TensorType& bound, const TensorType& type) {
    const std::string types = bound == type ? to_string(type)
                                            : fmt::format("({}, {}, {}) -> {}", to_string(bound), to_string(type),
                                                          to_string(bound), to_string(type));
    return sample_text({bound, type, bound}, type, "stablehlo.clamp %a0, %a1, %a2 : " + types);
  };
  std::vector<Sample> samples;
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kI32, DType::kUI8}) {
    samples.push_back({.text = text({dtype, {37}}, {dtype, {37}}), .specials = true, .differentiable = false});
    samples.push_back({.text = text({dtype, {}}, {dtype, {5, 7}}), .differentiable = false});
  }
  samples.push_back({.text = text({DType::kF64, {2, 3}}, {DType::kF64, {2, 3}})});
  return samples;
}

}  // namespace

extern const OpDef kClamp = {
    .name = "stablehlo.clamp",
    .doc = "y = min(max(x, low), high) for operands low, x, high; the bounds may be scalars.",
    .assembly = "operands attr-dict :same",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .samples = samples,
    .element = element,
    .is_elementwise = true,
    .flops = 2,
};

}  // namespace ingot::clamp_op
