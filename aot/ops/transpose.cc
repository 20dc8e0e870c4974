// stablehlo.transpose: dimensions in another order.
#include "aot/graph/access_map.h"
#include "aot/ops/support/axes.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::transpose_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const TensorType& x = args.operands[0];
  const std::vector<int64_t> permutation = args.attrs().ints("permutation");
  ops::check_one_each(args, "permutation", permutation, x.rank());
  ops::check_dims(args, "permutation", permutation, x.rank());
  return {{x.dtype, ops::extents(x.shape, permutation)}};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[0];
  const Shape strides = ops::extents(row_major_strides(x.type.shape), args.attrs().ints("permutation"));
  return {ops::strided_copy(args.result_type(), x, 0, strides)};
}

AccessMap access(const Op& op) {
  const std::vector<int64_t> permutation = op.attrs().ints("permutation");
  std::vector<AxisMap> axes(permutation.size());
  for (size_t k = 0; k < permutation.size(); ++k) axes[permutation[k]] = along(static_cast<int64_t>(k));
  return {{{0, axes}}};
}

// dx = dy with the inverse permutation.
Values gradient(GradientArgs& args) {
  return {ops::transpose(args.b, args.dy(), ops::inverse_permutation(args.op.attrs().ints("permutation")))};
}

std::vector<Sample> samples() {
  const auto transpose = [](const std::string& from, const std::string& dims, const std::string& to) {
    return Sample{.text = ops::single_op("%x: " + from,
                                         "stablehlo.transpose %x, dims = " + dims + " : (" + from + ") -> " + to, to)};
  };
  return {
      transpose("tensor<2x3xcomplex<f64>>", "[1, 0]", "tensor<3x2xcomplex<f64>>"),
      transpose("tensor<2x3xf32>", "[1, 0]", "tensor<3x2xf32>"),
      transpose("tensor<17x9xf32>", "[1, 0]", "tensor<9x17xf32>"),
      transpose("tensor<2x3x4xf32>", "[2, 0, 1]", "tensor<4x2x3xf32>"),
      transpose("tensor<2x3x4x5xf64>", "[0, 2, 1, 3]", "tensor<2x4x3x5xf64>"),
      transpose("tensor<5xf32>", "[0]", "tensor<5xf32>"),
      transpose("tensor<f32>", "[]", "tensor<f32>"),
      transpose("tensor<3x2xbf16>", "[1, 0]", "tensor<2x3xbf16>"),
      transpose("tensor<3x2xi1>", "[1, 0]", "tensor<2x3xi1>"),
      transpose("tensor<3x0xi32>", "[1, 0]", "tensor<0x3xi32>"),
  };
}

std::optional<layouts::Axes> axes(const Op& op) {
  const TensorType& type = op.result()->type;
  const layouts::Order place =
      layouts::permutation(op.attrs().ints("permutation"), layouts::as_written(type.shape.size()));
  return layouts::Axes{type.shape, {layouts::AxisOfDim(place.begin(), place.end())}, ops::each_its_own(type.rank())};
}

constexpr layouts::AxisRule kAxes = {axes, ops::unchanged};

}  // namespace

extern const OpDef kTranspose = {
    .name = "stablehlo.transpose",
    .doc = "Result dimension i is operand dimension permutation[i].",
    .assembly = "operands `,` `dims` `=` ints(permutation) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .split = ops::split_each,
    .samples = samples,
    .access = access,
    .axes = &kAxes,
    .flops = 0,
};

}  // namespace ingot::transpose_op
