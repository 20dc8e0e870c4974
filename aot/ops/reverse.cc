// stablehlo.reverse: the order of elements along some dimensions, turned round.
#include "aot/graph/access_map.h"
#include "aot/ops/support/axes.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::reverse_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  ops::check_dims(args, "dimensions", args.attrs().ints("dimensions"), args.operands[0].rank());
  return {args.operands[0]};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const TensorType& type = args.result_type();
  Shape strides = row_major_strides(type.shape);
  int64_t base = 0;
  for (int64_t dim : args.attrs().ints("dimensions")) {
    base += (type.shape[dim] - 1) * strides[dim];
    strides[dim] = -strides[dim];
  }
  return {ops::strided_copy(type, args.inputs[0], base, strides)};
}

AccessMap access(const Op& op) {
  const Shape& shape = op.result()->type.shape;
  std::vector<AxisMap> axes;
  for (int d = 0; d < std::ssize(shape); ++d) axes.push_back(along(d));
  for (const int64_t dim : op.attrs().ints("dimensions")) axes[dim] = along(dim, shape[dim] - 1, -1);
  return {{{0, axes}}};
}

// dx = dy reversed back.
Values gradient(GradientArgs& args) { return {ops::reverse(args.b, args.dy(), args.op.attrs().ints("dimensions"))}; }

std::vector<Sample> samples() {
  const auto reverse = [](const std::string& type, const std::string& dims) {
    return Sample{.text = ops::single_op("%x: " + type, "stablehlo.reverse %x, dims = " + dims + " : " + type, type)};
  };
  return {
      reverse("tensor<9xcomplex<f32>>", "[0]"),
      reverse("tensor<9xf32>", "[0]"),
      reverse("tensor<3x4xf32>", "[1]"),
      reverse("tensor<3x4xf32>", "[0, 1]"),
      reverse("tensor<2x3x17xf64>", "[0, 2]"),
      reverse("tensor<3xf32>", "[]"),
      reverse("tensor<f32>", "[]"),
      reverse("tensor<5xbf16>", "[0]"),
      reverse("tensor<5x2xi32>", "[0]"),
      reverse("tensor<5xi1>", "[0]"),
      reverse("tensor<0x2xf32>", "[0]"),
  };
}

}  // namespace

extern const OpDef kReverse = {
    .name = "stablehlo.reverse",
    .doc = "The operand with the order along `dimensions` reversed.",
    .assembly = "operands `,` `dims` `=` ints(dimensions) attr-dict :result",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .split = ops::split_each,
    .samples = samples,
    .access = access,
    .axes = &ops::kNumberedAxes,
    .flops = 0,
};

}  // namespace ingot::reverse_op
