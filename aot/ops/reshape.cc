// stablehlo.reshape: the same elements in the same row-major order under another shape.
#include <fmt/format.h>

#include "aot/graph/access_map.h"
#include "aot/ops/support/axes.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::reshape_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const TensorType& x = args.operands[0];
  const TensorType& result = args.declared_result();
  ops::check_same_dtype(args, x, result);
  if (x.elements() != result.elements()) {
    args.fail(
        fmt::format("{} has {} elements, {} has {}", to_string(x), x.elements(), to_string(result), result.elements()));
  }
  return {result};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  RefTensor result = args.inputs[0];
  result.type = args.result_type();
  return {result};
}

AccessMap access(const Op&) { return {.pieces = {{0}}, .is_flat = true}; }

// dx = dy under x's shape.
Values gradient(GradientArgs& args) { return {ops::reshape(args.b, args.dy(), args.operand(0)->type.shape)}; }

std::vector<Sample> samples() {
  const auto reshape = [](const std::string& from, const std::string& to) {
    return Sample{.text = ops::single_op("%x: " + from, "stablehlo.reshape %x : (" + from + ") -> " + to, to)};
  };
  return {
      reshape("tensor<2x3xcomplex<f32>>", "tensor<6xcomplex<f32>>"),
      reshape("tensor<2x3xf32>", "tensor<6xf32>"),
      reshape("tensor<6xf32>", "tensor<3x2xf32>"),
      reshape("tensor<4x6xf32>", "tensor<2x2x3x2xf32>"),
      reshape("tensor<2x3x5xf64>", "tensor<3x10xf64>"),
      reshape("tensor<1x1xf32>", "tensor<f32>"),
      reshape("tensor<f32>", "tensor<1x1x1xf32>"),
      reshape("tensor<3x1x4xbf16>", "tensor<1x3x4xbf16>"),
      reshape("tensor<8xi1>", "tensor<2x4xi1>"),
      reshape("tensor<3x7xi32>", "tensor<7x3xi32>"),
      reshape("tensor<0x3xf32>", "tensor<5x0xf32>"),
  };
}

// An axis is the fewest dimensions of both shapes that hold equally many elements;
// one of extent 1 is an axis by itself.
std::optional<layouts::Axes> axes(const Op& op) {
  const Shape& from = op.operand(0)->type.shape;
  const Shape& to = op.result()->type.shape;
  if (element_count(to) == 0) return std::nullopt;
  layouts::Axes axes{{}, {{}}, {}};
  size_t a = 0, b = 0;
  while (a < from.size() || b < to.size()) {
    const int axis = static_cast<int>(axes.extents.size());
    int64_t left = 1, right = 1;
    const auto take_from = [&] { left *= from[a++], axes.operands[0].push_back(axis); };
    const auto take_to = [&] { right *= to[b++], axes.result.push_back(axis); };
    const bool is_unit_from = a < from.size() && from[a] == 1, is_unit_to = b < to.size() && to[b] == 1;
    if (is_unit_from || is_unit_to) {
      if (is_unit_from) take_from();
      if (is_unit_to) take_to();
    } else {
      take_from();
      take_to();
    }
    while (left != right) left < right ? take_from() : take_to();
    axes.extents.push_back(left);
  }
  return axes;
}

constexpr layouts::AxisRule kAxes = {axes, ops::unchanged};

}  // namespace

extern const OpDef kReshape = {
    .name = "stablehlo.reshape",
    .doc = "The operand's elements, in row-major order, under the result's shape.",
    .assembly = "operands attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .split = ops::split_each,
    .samples = samples,
    .access = access,
    .axes = &kAxes,
    .flops = 0,
};

}  // namespace ingot::reshape_op
