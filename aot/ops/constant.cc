// stablehlo.constant: data that is part of the program.
#include <fmt/format.h>

#include "aot/graph/quantization.h"
#include "aot/loops/element.h"
#include "aot/ops/support/axes.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::constant_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 0);
  const TensorType& type = args.attrs().literal("value")->type;
  if (!args.declared.empty() && args.declared_result().quantization && storage_type(args.declared_result()) == type) {
    return {args.declared_result()};
  }
  if (!args.declared.empty() && args.declared_result() != type) {
    args.fail(fmt::format("the value is {}, the result {}", to_string(type), to_string(args.declared_result())));
  }
  return {type};
}

// A quantized tensor is written as its integers.
std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  RefTensor value = from_literal(*args.attrs().literal("value"));
  return {args.result_type().quantization ? from_storage(args.result_type(), value) : std::move(value)};
}

loops::Expr value_at(loops::KernelBuilder& b, const Literal& literal, int64_t at) {
  const DType dtype = loops::register_dtype(literal.type.dtype);
  return is_float(dtype) ? b.constant(dtype, literal.float_at(at)) : b.constant_int(dtype, literal.int_at(at));
}

// One part of each element.
LiteralRef part_of_literal(const Literal& literal, int part) {
  auto result = std::make_shared<Literal>();
  result->type = {part_of(literal.type.dtype), literal.type.shape};
  result->is_splat = literal.is_splat;
  const size_t bytes = info(result->type.dtype).bytes;
  for (size_t at = part * bytes; at < literal.data.size(); at += 2 * bytes) {
    result->data.insert(result->data.end(), literal.data.begin() + at, literal.data.begin() + at + bytes);
  }
  return result;
}

std::vector<Parts> split(SplitArgs& args) {
  const Literal& literal = *args.attrs().literal("value");
  Value* re = ops::constant(args.b, part_of_literal(literal, 0));
  return {{re, ops::constant(args.b, part_of_literal(literal, 1))}};
}

// A splat is its value everywhere. Other data lies in a buffer of its own, which a kernel gets as an operand; only an
// element at a constant index is known here.
loops::Expr element(loops::ElementArgs& args) {
  const Literal& literal = *args.op.attrs().literal("value");
  if (literal.is_splat) return value_at(args.b, literal, 0);
  const loops::Index at = loops::flatten(args.index, literal.type.shape);
  if (!at.is_constant()) throw_bug("constant: a kernel must get a constant that is not a splat as an operand");
  return value_at(args.b, literal, at.constant);
}

std::vector<Sample> samples() {
  const auto constant = [](const std::string& literal, const std::string& type) {
    return Sample{.text = ops::single_op("", "stablehlo.constant dense<" + literal + "> : " + type, type)};
  };
  return {
      constant("[[1.0, -2.5, 3.0e+38], [0.0, -0.0, 1.0e-40]]", "tensor<2x3xf32>"),
      constant("0x7FC00000", "tensor<4xf32>"),
      constant("1.5", "tensor<f64>"),
      constant("[1.5, -65504.0]", "tensor<2xf16>"),
      constant("3.140630e+00", "tensor<2x2xbf16>"),
      constant("[-128, 127]", "tensor<2xi8>"),
      constant("7", "tensor<2x2xi32>"),
      constant("[true, false]", "tensor<2xi1>"),
      constant("[18446744073709551615, 0]", "tensor<2xui64>"),
      constant("[-8, 7]", "tensor<2xi4>"),
      constant("", "tensor<0x2xf32>"),
      constant("[(1.0, -2.5), (0.0, -0.0)]", "tensor<2xcomplex<f32>>"),
      constant("(0.5, 3.0)", "tensor<3xcomplex<f64>>"),
  };
}

// Of splats.
std::optional<layouts::Axes> axes(const Op& op) {
  return op.attrs().literal("value")->is_splat ? ops::same_dims(op) : std::nullopt;
}

AttrMap attrs_along(const Op& op, const layouts::Axes& axes, const layouts::Order& order) {
  auto value = std::make_shared<Literal>(*op.attrs().literal("value"));
  value->type.shape = layouts::in_order(value->type.shape, layouts::along(axes.result, order));
  AttrMap attrs = op.attr_map;
  attrs["value"] = LiteralRef(std::move(value));
  return attrs;
}

constexpr layouts::AxisRule kAxes = {axes, attrs_along};

}  // namespace

extern const OpDef kConstant = {
    .name = "stablehlo.constant",
    .doc = "The tensor that the attribute `value` holds.",
    .assembly = "attr-dict custom(constant)",
    .infer = infer,
    .evaluate = evaluate,
    .zero_gradient = true,
    .split = split,
    .samples = samples,
    .element = element,
    .axes = &kAxes,
    .flops = 0,
    .infer_sees_quantized = true,
};

}  // namespace ingot::constant_op
