// Both gradients of y = convolution(x, w) are convolutions with the dimensions renamed. Forward, an output at position
// p reads input at p * stride + k * dilation - low (in units of 1 / base_dilation).
//
//   dx: for an input place, sum over the kernel places k and positions p that meet there: dy, dilated by the stride,
//       under the reversed kernel, whose input and output features change places. The window's stride is the
//       base dilation.
//   dw: for a kernel place, sum over batch and positions of x times dy: x with batch and features swapped, convolved
//       with dy as the kernel (batch as input feature); its dilation is the stride and its stride is the
//       kernel's dilation.
//
// With feature groups, dx needs the kernel's groups moved from output to input features, and dw is a convolution with
// batch groups. With batch groups, both are convolutions with feature groups.
#include "aot/ops/support/convolution_gradient.h"

#include "aot/ops/support/build.h"
#include "aot/ops/support/index.h"

namespace ingot::ops {
namespace {

// Splits dimension `from` into (count, rest) and makes `count` the slow part of dimension `to`.
Value* move_groups(GraphBuilder& b, Value* x, int64_t from, int64_t to, int64_t count) {
  const Shape& shape = x->type.shape;
  Shape split = shape;
  split[from] /= count;
  split.insert(split.begin() + from, count);
  std::vector<int64_t> order = other_dims(static_cast<int>(split.size()), {from});  // entry d is dimension d of x
  order.insert(order.begin() + to, from);
  Shape merged = shape;
  merged[from] /= count;
  merged[to] *= count;
  return reshape(b, transpose(b, reshape(b, x, split), order), merged);
}

Value* input_gradient(GradientArgs& args, const Convolution& conv) {
  GraphBuilder& b = args.b;
  const ConvDims& d = conv.dims;
  const TensorType& x = args.operand(0)->type;
  Value* kernel = convert(b, args.operand(1), args.dy()->type.dtype);
  const int64_t groups = conv.feature_groups * conv.batch_groups;
  if (groups > 1) kernel = move_groups(b, kernel, d.kernel_output_feature, d.kernel_input_feature, groups);

  Convolution back;
  back.dims = {.input_batch = d.output_batch,
               .input_feature = d.output_feature,
               .input_spatial = d.output_spatial,
               .kernel_input_feature = d.kernel_output_feature,
               .kernel_output_feature = d.kernel_input_feature,
               .kernel_spatial = d.kernel_spatial,
               .output_batch = d.input_batch,
               .output_feature = d.input_feature,
               .output_spatial = d.input_spatial};
  back.window =
      transposed(conv.window, extents(x.shape, d.input_spatial), extents(args.dy()->type.shape, d.output_spatial));
  back.feature_groups = groups;
  Value* dx = convolution(b, args.dy(), kernel, back);
  if (conv.batch_groups > 1) dx = move_groups(b, dx, d.input_feature, d.input_batch, groups);
  return convert(b, dx, x.dtype);
}

Value* kernel_gradient(GradientArgs& args, const Convolution& conv) {
  GraphBuilder& b = args.b;
  const ConvDims& d = conv.dims;
  const TensorType& w = args.operand(1)->type;
  const Shape& y = args.dy()->type.shape;
  Value* x = convert(b, args.operand(0), args.dy()->type.dtype);

  Convolution back;
  back.dims = {.input_batch = d.input_feature,
               .input_feature = d.input_batch,
               .input_spatial = d.input_spatial,
               .kernel_input_feature = d.output_batch,
               .kernel_output_feature = d.output_feature,
               .kernel_spatial = d.output_spatial,
               .output_batch = d.kernel_input_feature,
               .output_feature = d.kernel_output_feature,
               .output_spatial = d.kernel_spatial};
  back.feature_groups = conv.batch_groups;
  back.batch_groups = conv.feature_groups;
  std::vector<int64_t> reversed;
  for (size_t k = 0; k < conv.window.size(); ++k) {
    const WindowDim& dim = conv.window[k];
    const int64_t positions = y[d.output_spatial[k]];
    WindowDim swapped{.size = positions,
                      .stride = dim.dilation,
                      .low = dim.low,
                      .base_dilation = dim.base_dilation,
                      .dilation = dim.stride};
    // As much after as makes exactly `size` positions.
    swapped.high = dilated_extent(dim.size, dim.dilation) + dilated_extent(positions, dim.stride) - 1 - dim.low -
                   dilated_extent(args.operand(0)->type.shape[d.input_spatial[k]], dim.base_dilation);
    back.window.push_back(swapped);
    if (dim.reversed) reversed.push_back(d.kernel_spatial[k]);
  }
  Value* dw = convolution(b, x, args.dy(), back);
  if (!reversed.empty()) dw = reverse(b, dw, reversed);
  return convert(b, dw, w.dtype);
}

}  // namespace

Values convolution_gradient(GradientArgs& args) {
  if (args.dy()->type.elements() == 0) {
    return {zeros_like(args.b, args.operand(0)), zeros_like(args.b, args.operand(1))};
  }
  const Convolution conv = read_convolution(args.op.attrs(), args.operand(1)->type.shape);
  return {args.needed[0] ? input_gradient(args, conv) : nullptr,
          args.needed[1] ? kernel_gradient(args, conv) : nullptr};
}

}  // namespace ingot::ops
