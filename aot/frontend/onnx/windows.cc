#include "aot/frontend/onnx/windows.h"

#include <fmt/format.h>

#include "aot/base/divide.h"
#include "aot/base/join.h"
#include "aot/ops/support/index.h"

namespace ingot::onnx {
namespace {

constexpr int64_t kWindowSizeMax = int64_t{1} << 32;

std::vector<int64_t> sizes_of(NodeArgs& n, std::string_view name, size_t count, int64_t otherwise, int64_t least) {
  std::vector<int64_t> sizes = n.integers(name, std::vector<int64_t>(count, otherwise));
  if (sizes.size() != count) n.fail(fmt::format("{} has {} entries, not {}", name, sizes.size(), count));
  for (const int64_t size : sizes) {
    if (size < least || size > kWindowSizeMax) n.fail(fmt::format("{} = [{}]", name, join(sizes, ", ")));
  }
  return sizes;
}

// With ceil_mode a last window may hang over the end, unless it would start in the padding there.
void round_up_positions(ops::WindowDim& w, int64_t size, int64_t reach) {
  const int64_t room = size + w.low + w.high - reach;
  if (room < 0) return;
  int64_t count = divide_up(room, w.stride) + 1;
  if ((count - 1) * w.stride >= size + w.low) --count;
  w.high = (count - 1) * w.stride + reach - size - w.low;
}

}  // namespace

ops::Window spatial_window(NodeArgs& n, const Shape& x, const Shape& kernel) {
  const size_t count = kernel.size();
  const auto strides = sizes_of(n, "strides", count, 1, 1), dilations = sizes_of(n, "dilations", count, 1, 1);
  const auto pads = sizes_of(n, "pads", 2 * count, 0, 0);
  const std::string automatic = n.text("auto_pad", "NOTSET");
  ops::Window window(count);
  for (size_t d = 0; d < count; ++d) {
    ops::WindowDim& w = window[d];
    const int64_t size = x[d + 2], reach = ops::dilated_extent(kernel[d], dilations[d]);
    if (reach > kWindowSizeMax) n.fail("its window is too large");
    w = {.size = kernel[d], .stride = strides[d], .low = 0, .high = 0, .base_dilation = 1, .dilation = dilations[d]};
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      const int64_t total = std::max<int64_t>((divide_up(size, w.stride) - 1) * w.stride + reach - size, 0);
      w.low = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.high = total - w.low;
    } else if (automatic == "NOTSET" || automatic.empty()) {
      w.low = pads[d];
      w.high = pads[d + count];
    } else if (automatic != "VALID") {
      n.fail(fmt::format("auto_pad = '{}'", automatic));
    }
    if (n.flag("ceil_mode")) round_up_positions(w, size, reach);
  }
  return window;
}

Shape weight_kernel_shape(NodeArgs& n, Term x, Term w) {
  if (rank_of(x) < 3 || rank_of(w) != rank_of(x))
    n.fail("its operands must be [batch, channels, ...] and [out, in, ...]");
  const Shape kernel(w.shape().begin() + 2, w.shape().end());
  const std::vector<int64_t> told = n.integers("kernel_shape", kernel);
  if (told != kernel)
    n.fail(fmt::format("kernel_shape = [{}] for weights of [{}]", join(told, ", "), join(kernel, ", ")));
  return kernel;
}

Shape kernel_shape(NodeArgs& n, const Shape& x) {
  if (x.size() < 3) n.fail("its input needs a batch, channels and space");
  return sizes_of(n, "kernel_shape", x.size() - 2, 0, 1);
}

ops::Window with_batch_and_channels(ops::Window window) {
  window.insert(window.begin(), 2, {});
  return window;
}

ops::ConvDims channels_first(int spatial) {
  std::vector<int64_t> space;
  for (int d = 0; d < spatial; ++d) space.push_back(d + 2);
  return {.input_batch = 0,
          .input_feature = 1,
          .input_spatial = space,
          .kernel_input_feature = 1,
          .kernel_output_feature = 0,
          .kernel_spatial = space,
          .output_batch = 0,
          .output_feature = 1,
          .output_spatial = space};
}

Term convolve(Term x, Term w, const ops::Window& window, int64_t groups) {
  const ops::Convolution convolution{channels_first(rank_of(x) - 2), window, groups, 1};
  return {x.builder(), ops::convolution(x.builder(), x, w, convolution)};
}

Term add_bias(Term x, Term bias) { return x + broadcast(along(bias, 1, rank_of(x)), x.shape()); }

}  // namespace ingot::onnx
