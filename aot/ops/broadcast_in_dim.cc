// stablehlo.broadcast_in_dim: copies a tensor along new dimensions and along dimensions of extent 1.
#include <fmt/format.h>

#include <algorithm>

#include "aot/graph/access_map.h"
#include "aot/ops/support/axes.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::broadcast_in_dim_op {
namespace {

constexpr const char* kDims = "broadcast_dimensions";

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const TensorType& x = args.operands[0];
  const TensorType& result = args.declared_result();
  ops::check_same_dtype(args, x, result);
  const std::vector<int64_t> dims = args.attrs().ints(kDims);
  ops::check_one_each(args, kDims, dims, x.rank());
  ops::check_dims(args, kDims, dims, result.rank());
  for (size_t k = 0; k < dims.size(); ++k) {
    const int64_t from = x.shape[k], to = result.shape[dims[k]];
    if (from == to || from == 1) continue;
    args.fail(
        fmt::format("operand dimension {} of {} cannot become result dimension {} of {}: {} elements are neither 1 "
                    "nor {}",
                    k, to_string(x), dims[k], to_string(result), from, to));
  }
  return {result};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[0];
  const std::vector<int64_t> dims = args.attrs().ints(kDims);
  const Shape x_strides = row_major_strides(x.type.shape);
  Shape strides(args.result_type().rank(), 0);  // 0 repeats
  for (size_t k = 0; k < dims.size(); ++k) {
    if (x.type.shape[k] != 1) strides[dims[k]] = x_strides[k];
  }
  return {ops::strided_copy(args.result_type(), x, 0, strides)};
}

AccessMap access(const Op& op) {
  const Shape& shape = op.operand(0)->type.shape;
  std::vector<AxisMap> axes;
  for (const int64_t dim : op.attrs().ints(kDims)) axes.push_back(shape[axes.size()] == 1 ? AxisMap{} : along(dim));
  return {{{0, axes}}};
}

// An element was copied along the dimensions that it does not have or that grew from 1: dx = sum of dy over them.
Values gradient(GradientArgs& args) {
  const TensorType& x = args.operand(0)->type;
  const Shape& shape = args.result()->type.shape;
  const std::vector<int64_t> dims = args.op.attrs().ints(kDims);
  std::vector<int64_t> kept;  // result dimensions that are dimensions of x, in x's order
  for (size_t k = 0; k < dims.size(); ++k) {
    if (x.shape[k] == shape[dims[k]]) kept.push_back(dims[k]);
  }
  const std::vector<int64_t> summed = ops::other_dims(static_cast<int>(shape.size()), kept);
  Value* sum = summed.empty() ? args.dy() : ops::reduce(args.b, kAdd, args.dy(), summed);
  std::vector<int64_t> sorted = kept;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> order;
  for (int64_t dim : kept) order.push_back(ops::position_of(sorted, dim));
  return {ops::reshape(args.b, ops::transpose(args.b, sum, order), x.shape)};
}

std::vector<Sample> samples() {
  const auto broadcast = [](const std::string& from, const std::string& dims, const std::string& to) {
    return Sample{.text = ops::single_op("%x: " + from,
                                         "stablehlo.broadcast_in_dim %x, dims = " + dims + " : (" + from + ") -> " + to,
                                         to)};
  };
  return {
      broadcast("tensor<5xcomplex<f32>>", "[1]", "tensor<3x5xcomplex<f32>>"),
      broadcast("tensor<f32>", "[]", "tensor<3x4xf32>"),
      broadcast("tensor<f32>", "[]", "tensor<f32>"),
      broadcast("tensor<5xf32>", "[1]", "tensor<3x5xf32>"),
      broadcast("tensor<5xf32>", "[0]", "tensor<5x9xf32>"),
      broadcast("tensor<1x5xf32>", "[0, 1]", "tensor<3x5xf32>"),
      broadcast("tensor<3x1xf64>", "[0, 2]", "tensor<3x2x4xf64>"),
      broadcast("tensor<2x3xf32>", "[1, 0]", "tensor<3x2xf32>"),
      broadcast("tensor<2x3x1xf32>", "[2, 0, 1]", "tensor<3x4x2xf32>"),
      broadcast("tensor<3xbf16>", "[1]", "tensor<2x3x2x1xbf16>"),
      broadcast("tensor<2xi1>", "[0]", "tensor<2x3xi1>"),
      broadcast("tensor<1xi32>", "[0]", "tensor<0xi32>"),
      broadcast("tensor<0xf32>", "[1]", "tensor<2x0xf32>"),
  };
}

std::optional<layouts::Axes> axes(const Op& op) {
  const TensorType& type = op.result()->type;
  const std::vector<int64_t> dims = op.attrs().ints("broadcast_dimensions");
  return layouts::Axes{type.shape, {layouts::AxisOfDim(dims.begin(), dims.end())}, ops::each_its_own(type.rank())};
}

AttrMap attrs_along(const Op& op, const layouts::Axes& axes, const layouts::Order& order) {
  const layouts::Order result = layouts::along(axes.result, order);
  const layouts::Order place = layouts::permutation(result, layouts::as_written(result.size()));
  const std::vector<int64_t> dims = op.attrs().ints("broadcast_dimensions");
  std::vector<int64_t> renumbered;
  for (const int64_t dim : layouts::along(axes.operands[0], order)) renumbered.push_back(place[dims[dim]]);
  AttrMap attrs = op.attr_map;
  attrs["broadcast_dimensions"] = renumbered;
  return attrs;
}

constexpr layouts::AxisRule kAxes = {axes, attrs_along};

}  // namespace

extern const OpDef kBroadcastInDim = {
    .name = "stablehlo.broadcast_in_dim",
    .doc = "Result dimension broadcast_dimensions[i] is operand dimension i; the others, and extents 1, are repeated.",
    .assembly = "operands `,` `dims` `=` ints(broadcast_dimensions) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .split = ops::split_each,
    .samples = samples,
    .access = access,
    .axes = &kAxes,
    .flops = 0,
};

}  // namespace ingot::broadcast_in_dim_op
