// Windows of convolutions and pooling, from the attributes that these ops share.
#pragma once

#include "aot/frontend/onnx/node_args.h"
#include "aot/ops/support/window.h"

namespace ingot::onnx {

// One entry for each spatial dimension of x [batch, channels, ...], for a kernel of these sizes: from
// strides, dilations, pads, auto_pad and ceil_mode.
ops::Window spatial_window(NodeArgs& n, const Shape& x, const Shape& kernel);
// The attribute kernel_shape, checked to have an entry for each spatial dimension.
// The spatial sizes of a convolution's weights [out, in, ...], which the attribute kernel_shape may say once more.
Shape weight_kernel_shape(NodeArgs& n, Term x, Term w);

Shape kernel_shape(NodeArgs& n, const Shape& x);
// The same with two dimensions in front that pass through.
ops::Window with_batch_and_channels(ops::Window window);
// Batch, channels, then space: of operands, kernel ([out, in, ...]) and result.
ops::ConvDims channels_first(int spatial);
// x [n, c, ...] by w [m, c/groups, ...].
Term convolve(Term x, Term w, const ops::Window& window, int64_t groups);
// A bias of one number for each channel.
Term add_bias(Term x, Term bias);

}  // namespace ingot::onnx
