// Convolutions, forward and transposed, and columns of windows.
#include <fmt/format.h>

#include "aot/frontend/onnx/windows.h"
#include "aot/ops/support/index.h"

namespace ingot::onnx {

Items lower_conv(NodeArgs& n) {
  const Term x = n.in(0), w = n.in(1);
  const Term y = convolve(x, w, spatial_window(n, x.shape(), weight_kernel_shape(n, x, w)), n.integer("group", 1));
  return n.has(2) ? add_bias(y, n.in(2)) : y;
}

namespace {

// The padding of the result: as given, or as output_shape or auto_pad want it.
void pad_transposed(NodeArgs& n, const Shape& x, ops::Window& window, const std::vector<int64_t>& output_padding) {
  const size_t count = window.size();
  const std::vector<int64_t> wanted = n.integers("output_shape");
  const std::string automatic = n.text("auto_pad", "NOTSET");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  if (!wanted.empty() && wanted.size() != count)
    n.fail(fmt::format("output_shape has {} entries, not {}", wanted.size(), count));
  for (size_t d = 0; d < count && (same || !wanted.empty()); ++d) {
    ops::WindowDim& w = window[d];
    const int64_t size = wanted.empty() ? x[d + 2] * w.stride : wanted[d];
    const int64_t full = w.stride * (x[d + 2] - 1) + output_padding[d] + ops::dilated_extent(w.size, w.dilation);
    const int64_t total = std::max<int64_t>(full - size, 0), half = total / 2;
    w.low = automatic == "SAME_UPPER" ? half : total - half;
    w.high = total - w.low;
    if (full < size) w.high = full - size;
  }
}

// [c, m/groups, ...] as the kernel [m, c/groups, ...] of a convolution, channels exchanged within each group.
Term transposed_kernel(Term w, int64_t groups) {
  const Shape& shape = w.shape();
  Shape split{groups, shape[0] / groups}, joined{groups * shape[1], shape[0] / groups};
  split.insert(split.end(), shape.begin() + 1, shape.end());
  joined.insert(joined.end(), shape.begin() + 2, shape.end());
  return reshape(swap_axes(reshape(w, split), 1, 2), joined);
}

}  // namespace

// Each element of x spreads over a window of the result: a convolution of x, its elements `strides` apart, by the
// reversed kernel.
Items lower_conv_transpose(NodeArgs& n) {
  const Term x = n.in(0), w = n.in(1);
  const Shape kernel = weight_kernel_shape(n, x, w);
  const int64_t groups = n.integer("group", 1);
  if (groups < 1 || w.shape()[0] % groups) n.fail(fmt::format("{} groups of {} channels", groups, w.shape()[0]));
  ops::Window window = spatial_window(n, x.shape(), kernel);
  const std::vector<int64_t> extra = n.integers("output_padding", std::vector<int64_t>(kernel.size(), 0));
  if (extra.size() != kernel.size()) n.fail("output_padding needs an entry for each spatial dimension");
  pad_transposed(n, x.shape(), window, extra);
  for (size_t d = 0; d < window.size(); ++d) {
    ops::WindowDim& dim = window[d];
    const int64_t reach = ops::dilated_extent(dim.size, dim.dilation) - 1;
    dim.base_dilation = dim.stride;
    dim.stride = 1;
    dim.low = reach - dim.low;
    dim.high = reach - dim.high + extra[d];
    dim.reversed = true;
  }
  const Term y = convolve(x, transposed_kernel(w, groups), window, groups);
  return n.has(2) ? add_bias(y, n.in(2)) : y;
}

// Columns of windows [n, c k, positions] summed up where they came from: a transposed convolution by a kernel that
// picks each element of the window.
Items lower_col2_im(NodeArgs& n) {
  const Term columns = n.in(0);
  const Shape image = n.known_integers(1), block = n.known_integers(2);
  if (rank_of(columns) != 3 || image.size() != block.size())
    n.fail("its columns must be [batch, channels and window, positions]");
  const auto is_size = [](int64_t size) { return size > 0 && size < (1 << 24); };
  if (!std::ranges::all_of(image, is_size) || !std::ranges::all_of(block, is_size))
    n.fail("its sizes are out of range");
  const int64_t cells = element_count(block);
  if (cells < 1 || columns.shape()[1] % cells) n.fail("the columns are not so many windows");
  Shape like{1, 1};
  like.insert(like.end(), image.begin(), image.end());
  ops::Window window = spatial_window(n, like, block);
  Shape places{columns.shape()[0] * (columns.shape()[1] / cells), cells},
      result{columns.shape()[0], columns.shape()[1] / cells};
  for (size_t d = 0; d < block.size(); ++d) {
    places.push_back(window[d].positions(image[d]));
    result.push_back(image[d]);
    ops::WindowDim& w = window[d];
    const int64_t reach = ops::dilated_extent(w.size, w.dilation), full = (places.back() - 1) * w.stride + reach;
    w.base_dilation = std::exchange(w.stride, 1);
    w.high = image[d] - (full - w.low) + reach - 1;
    w.low = reach - 1 - w.low;
    w.reversed = true;
  }
  const TensorType square{DType::kI32, {cells, cells}};
  const Term identity = converted(equal(counted(columns, square, 0), counted(columns, square, 1)), dtype_of(columns));
  Shape kernel{1, cells};
  kernel.insert(kernel.end(), block.begin(), block.end());
  return reshape(convolve(reshape(columns, places), reshape(identity, kernel), window, 1), result);
}

}  // namespace ingot::onnx
