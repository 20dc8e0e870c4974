// stablehlo.concatenate: tensors one after the other along a dimension.
#include <fmt/format.h>

#include "aot/graph/access_map.h"
#include "aot/ops/support/axes.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::concatenate_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  if (args.operands.empty()) args.fail("needs at least one operand");
  TensorType result = args.operands[0];
  const int64_t dim = args.attrs().integer("dimension");
  if (dim < 0 || dim >= result.rank()) {
    args.fail(fmt::format("dimension = {}: {} has no such dimension", dim, to_string(result)));
  }
  result.shape[dim] = 0;
  for (const TensorType& operand : args.operands) {
    ops::check_same_dtype(args, args.operands[0], operand);
    TensorType rest = operand;
    if (operand.rank() == result.rank()) rest.shape[dim] = result.shape[dim];
    if (rest != result) {
      args.fail(fmt::format("{} and {} may differ in dimension {} alone", to_string(args.operands[0]),
                            to_string(operand), dim));
    }
    result.shape[dim] += operand.shape[dim];
  }
  return {result};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const int64_t dim = args.attrs().integer("dimension");
  RefTensor result(args.result_type());
  const int64_t stride = row_major_strides(result.type.shape)[dim];
  int64_t base = 0;
  for (const RefTensor& x : args.inputs) {
    ops::place_box(result, base, x);
    base += x.type.shape[dim] * stride;
  }
  return {result};
}

AccessMap access(const Op& op) {
  const int64_t dim = op.attrs().integer("dimension");
  AccessMap map;
  int64_t start = 0;
  for (int i = 0; i < std::ssize(op.operands); ++i) {
    const Shape& shape = op.operand(i)->type.shape;
    std::vector<AxisMap> axes;
    for (int64_t d = 0; d < std::ssize(shape); ++d) axes.push_back(along(d, d == dim ? -start : 0));
    map.pieces.push_back({i, axes});
    start += shape[dim];
  }
  return map;
}

// Each operand's gradient is its part of dy.
Values gradient(GradientArgs& args) {
  const int64_t dim = args.op.attrs().integer("dimension");
  Shape start(args.dy()->type.rank(), 0);
  Values gradients;
  for (size_t i = 0; i < args.op.operands.size(); ++i) {
    Shape limit = args.dy()->type.shape;
    limit[dim] = start[dim] + args.operand(static_cast<int>(i))->type.shape[dim];
    gradients.push_back(args.needed[i] ? ops::slice(args.b, args.dy(), start, limit, Shape(start.size(), 1)) : nullptr);
    start[dim] = limit[dim];
  }
  return gradients;
}

std::vector<Sample> samples() {
  const auto two = [](const std::string& x, const std::string& y, int dim, const std::string& to) {
    return Sample{.text = ops::single_op("%x: " + x + ", %y: " + y,
                                         "stablehlo.concatenate %x, %y, dim = " + std::to_string(dim) + " : (" + x +
                                             ", " + y + ") -> " + to,
                                         to)};
  };
  const std::string a = "tensor<2x1xf32>", b = "tensor<2x9xf32>", c = "tensor<2x4xf32>";
  return {
      two("tensor<3xcomplex<f32>>", "tensor<5xcomplex<f32>>", 0, "tensor<8xcomplex<f32>>"),
      two("tensor<3xf32>", "tensor<5xf32>", 0, "tensor<8xf32>"),
      two("tensor<2x3xf32>", "tensor<4x3xf32>", 0, "tensor<6x3xf32>"),
      two("tensor<2x3xf32>", "tensor<2x17xf32>", 1, "tensor<2x20xf32>"),
      two("tensor<2x1x3xf64>", "tensor<2x2x3xf64>", 1, "tensor<2x3x3xf64>"),
      two("tensor<0xf32>", "tensor<4xf32>", 0, "tensor<4xf32>"),
      two("tensor<2xbf16>", "tensor<1xbf16>", 0, "tensor<3xbf16>"),
      two("tensor<2xi32>", "tensor<2xi32>", 0, "tensor<4xi32>"),
      two("tensor<2xi1>", "tensor<2xi1>", 0, "tensor<4xi1>"),
      {.text = ops::single_op(
           "%x: " + a + ", %y: " + b + ", %z: " + c,
           "stablehlo.concatenate %x, %y, %z, dim = 1 : (" + a + ", " + b + ", " + c + ") -> tensor<2x14xf32>",
           "tensor<2x14xf32>")},
      {.text = ops::single_op("%x: " + a, "stablehlo.concatenate %x, dim = 0 : (" + a + ") -> " + a, a)},
  };
}

}  // namespace

extern const OpDef kConcatenate = {
    .name = "stablehlo.concatenate",
    .doc = "The operands one after the other along `dimension`.",
    .assembly = "operands `,` `dim` `=` int(dimension) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .split = ops::split_each,
    .samples = samples,
    .access = access,
    .axes = &ops::kNumberedAxes,
    .flops = 0,
};

}  // namespace ingot::concatenate_op
