// chlo.broadcast_*: elementwise ops whose operands are broadcast first.
//
// The operand of lower rank stands for the last dimensions of the result, or for those that broadcast_dimensions names;
// dimensions of size 1 are repeated.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "aot/base/contains.h"
#include "aot/ops/support/elementwise.h"
#include "aot/ops/support/index.h"

namespace ingot::broadcast_binary_op {
namespace {

constexpr std::string_view kPrefix = "chlo.broadcast_";

bool is_of_chlo(std::string_view name) {
  constexpr std::array kChlo = {"next_after", "polygamma", "zeta"};
  return contains(kChlo, name.substr(kPrefix.size()));
}

// "stablehlo.add" for chlo.broadcast_add.
std::string plain_name(std::string_view name) {
  return (is_of_chlo(name) ? "chlo." : "stablehlo.") + std::string(name.substr(kPrefix.size()));
}

// Which dimensions of a result of rank `rank` those of `operand` are.
std::vector<int64_t> result_dims(const Attrs& attrs, const Shape& operand, size_t rank) {
  if (operand.size() < rank && attrs.has("broadcast_dimensions")) return attrs.ints("broadcast_dimensions");
  std::vector<int64_t> dims = all_dims(operand);
  for (int64_t& dim : dims) dim += static_cast<int64_t>(rank - operand.size());
  return dims;
}

std::vector<TensorType> infer(const InferArgs& args) {
  Shape shape;
  for (const TensorType& operand : args.operands) shape.resize(std::max(shape.size(), operand.shape.size()), 1);
  for (const TensorType& operand : args.operands) {
    const std::vector<int64_t> dims = result_dims(args.attrs(), operand.shape, shape.size());
    if (dims.size() != operand.shape.size()) {
      args.fail(fmt::format("broadcast_dimensions must name one dimension for each of {}", to_string(operand)));
    }
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] < 0 || dims[d] >= static_cast<int64_t>(shape.size())) {
        args.fail(fmt::format("broadcast_dimensions has {}, the result has rank {}", dims[d], shape.size()));
      }
      int64_t& size = shape[dims[d]];
      if (size == 1) size = operand.shape[d];
      if (operand.shape[d] != 1 && operand.shape[d] != size) {
        args.fail(fmt::format("{} does not broadcast to size {} in dimension {}", to_string(operand), size, dims[d]));
      }
    }
  }
  std::vector<TensorType> operands;
  for (const TensorType& operand : args.operands) operands.push_back({operand.dtype, shape});
  const InferArgs plain{args.name, operands, args.attr_map, args.regions, {}, args.location};
  return op_named(plain_name(args.name)).infer(plain);
}

RefTensor repeat(const RefTensor& x, const Shape& shape, const std::vector<int64_t>& dims) {
  RefTensor y({x.type.dtype, shape});
  const Shape strides = row_major_strides(x.type.shape);
  ops::for_each_index(shape, [&](const Shape& at, int64_t k) {
    int64_t from = 0;
    for (size_t d = 0; d < dims.size(); ++d) from += x.type.shape[d] == 1 ? 0 : at[dims[d]] * strides[d];
    y.copy_element(k, x, from);
  });
  return y;
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const Shape& shape = args.result_type().shape;
  std::vector<RefTensor> inputs;
  for (const RefTensor& x : args.inputs) {
    inputs.push_back(repeat(x, shape, result_dims(args.attrs(), x.type.shape, shape.size())));
  }
  return all_ops().find(plain_name(args.op.def->name))->evaluate({args.op, inputs, args.run, args.round_partial_sums});
}

// A dimension of size 1 that is repeated is dropped on the way.
Value* repeat(GraphBuilder& b, Value* x, const Shape& shape, const std::vector<int64_t>& dims) {
  if (x->type.shape == shape) return x;
  Shape kept;
  std::vector<int64_t> kept_dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (x->type.shape[d] == 1 && shape[dims[d]] != 1) continue;
    kept.push_back(x->type.shape[d]);
    kept_dims.push_back(dims[d]);
  }
  return ops::broadcast_in_dim(b, ops::reshape(b, x, kept), shape, kept_dims);
}

Values expand(ExpandArgs& args) {
  const TensorType& type = args.op.result()->type;
  Values operands;
  for (Value* x : args.op.operands) {
    operands.push_back(repeat(args.b, x, type.shape, result_dims(args.attrs(), x->type.shape, type.shape.size())));
  }
  AttrMap attrs = args.op.attr_map;
  attrs.erase("broadcast_dimensions");
  for (auto& [name, attr] : attrs) {  // #chlo<comparison_direction LT> becomes #stablehlo<...>
    const auto* word = attr.as<EnumAttr>();
    if (word && word->kind.starts_with("chlo.")) attr = EnumAttr{word->kind.substr(5), word->value};
  }
  return {args.b.make(op_named(plain_name(args.op.name())), operands, std::move(attrs))};
}

// Two operands, of shapes that broadcast in every way.
std::vector<Sample> samples_of(std::string_view name, DType dtype, std::string_view attrs = "") {
  const DType result = name == "chlo.broadcast_compare" ? DType::kI1 : dtype;
  const auto sample = [&](const Shape& x, const Shape& y, const Shape& z, std::string_view dimensions) {
    const TensorType operands[] = {{dtype, x}, {dtype, y}};
    const std::string all = fmt::format("{}{}{}", dimensions, dimensions.empty() || attrs.empty() ? "" : ", ", attrs);
    return Sample{
        .text = sample_text({operands[0], operands[1]}, {result, z},
                            fmt::format("\"{}\"(%a0, %a1) {{{}}} : ({}, {}) -> {}", name, all, to_string(operands[0]),
                                        to_string(operands[1]), to_string({result, z}))),
        .low = 1,
        .high = 3,
        .integer_low = 1,
        .integer_high = 5,
        .differentiable = !is_of_chlo(name)};
  };
  return {sample({3, 4}, {4}, {3, 4}, ""), sample({1, 4}, {3, 1}, {3, 4}, ""), sample({}, {2, 3}, {2, 3}, ""),
          sample({3}, {3, 4}, {3, 4}, "broadcast_dimensions = array<i64: 0>"), sample({5}, {5}, {5}, "")};
}

std::vector<Sample> compare_samples() {
  return samples_of("chlo.broadcast_compare", DType::kF32, "comparison_direction = #chlo<comparison_direction LT>");
}

std::vector<Sample> select_samples() {
  const TensorType operands[] = {{DType::kI1, {3, 1}}, {DType::kF32, {}}, {DType::kF32, {4}}};
  return {{.text = sample_text({operands[0], operands[1], operands[2]}, {DType::kF32, {3, 4}},
                               "chlo.broadcast_select %a0, %a1, %a2 : (tensor<3x1xi1>, tensor<f32>, tensor<4xf32>) -> "
                               "tensor<3x4xf32>")}};
}

constexpr OpDef broadcast(std::string_view name, std::vector<Sample> (*samples)()) {
  return {.name = name,
          .doc = "The op of that name on operands that are broadcast to one shape.",
          .assembly = "operands attr-dict :functional",
          .infer = infer,
          .evaluate = evaluate,
          .expand = expand,
          .samples = samples,
          .root = KernelRoot::kNone,
          .ulp = {.f32 = 8, .f64 = 8, .half = 1}};
}

}  // namespace

extern const OpDef kBroadcastAdd =
    broadcast("chlo.broadcast_add", [] { return samples_of("chlo.broadcast_add", DType::kF32); });
extern const OpDef kBroadcastAnd =
    broadcast("chlo.broadcast_and", [] { return samples_of("chlo.broadcast_and", DType::kI32); });
extern const OpDef kBroadcastAtan2 =
    broadcast("chlo.broadcast_atan2", [] { return samples_of("chlo.broadcast_atan2", DType::kF32); });
extern const OpDef kBroadcastDivide =
    broadcast("chlo.broadcast_divide", [] { return samples_of("chlo.broadcast_divide", DType::kF32); });
extern const OpDef kBroadcastMaximum =
    broadcast("chlo.broadcast_maximum", [] { return samples_of("chlo.broadcast_maximum", DType::kF32); });
extern const OpDef kBroadcastMinimum =
    broadcast("chlo.broadcast_minimum", [] { return samples_of("chlo.broadcast_minimum", DType::kF32); });
extern const OpDef kBroadcastMultiply =
    broadcast("chlo.broadcast_multiply", [] { return samples_of("chlo.broadcast_multiply", DType::kF32); });
extern const OpDef kBroadcastNextAfter =
    broadcast("chlo.broadcast_next_after", [] { return samples_of("chlo.broadcast_next_after", DType::kF32); });
extern const OpDef kBroadcastOr =
    broadcast("chlo.broadcast_or", [] { return samples_of("chlo.broadcast_or", DType::kI32); });
extern const OpDef kBroadcastPolygamma =
    broadcast("chlo.broadcast_polygamma", [] { return samples_of("chlo.broadcast_polygamma", DType::kF32); });
extern const OpDef kBroadcastPower =
    broadcast("chlo.broadcast_power", [] { return samples_of("chlo.broadcast_power", DType::kF32); });
extern const OpDef kBroadcastRemainder =
    broadcast("chlo.broadcast_remainder", [] { return samples_of("chlo.broadcast_remainder", DType::kF32); });
extern const OpDef kBroadcastShiftLeft =
    broadcast("chlo.broadcast_shift_left", [] { return samples_of("chlo.broadcast_shift_left", DType::kI32); });
extern const OpDef kBroadcastShiftRightArithmetic = broadcast("chlo.broadcast_shift_right_arithmetic", [] {
  return samples_of("chlo.broadcast_shift_right_arithmetic", DType::kI32);
});
extern const OpDef kBroadcastShiftRightLogical = broadcast(
    "chlo.broadcast_shift_right_logical", [] { return samples_of("chlo.broadcast_shift_right_logical", DType::kI32); });
extern const OpDef kBroadcastSubtract =
    broadcast("chlo.broadcast_subtract", [] { return samples_of("chlo.broadcast_subtract", DType::kF32); });
extern const OpDef kBroadcastXor =
    broadcast("chlo.broadcast_xor", [] { return samples_of("chlo.broadcast_xor", DType::kI32); });
extern const OpDef kBroadcastZeta =
    broadcast("chlo.broadcast_zeta", [] { return samples_of("chlo.broadcast_zeta", DType::kF32); });
extern const OpDef kBroadcastCompare = broadcast("chlo.broadcast_compare", compare_samples);
extern const OpDef kBroadcastSelect = broadcast("chlo.broadcast_select", select_samples);

}  // namespace ingot::broadcast_binary_op
