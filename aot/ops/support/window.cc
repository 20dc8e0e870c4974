#include "aot/ops/support/window.h"

#include <fmt/format.h>

#include "aot/ops/support/infer.h"

namespace ingot::ops {

int64_t dilated_extent(int64_t size, int64_t dilation) {
  constexpr int64_t kMost = int64_t{1} << 60;
  int64_t extent = 0;
  if (size == 0) return 0;
  return __builtin_mul_overflow(size - 1, dilation, &extent) || extent >= kMost ? kMost : extent + 1;
}

int64_t WindowDim::positions(int64_t extent) const {
  const int64_t padded = low + dilated_extent(extent, base_dilation) + high;
  const int64_t window = dilated_extent(size, dilation);
  return padded <= 0 || window > padded ? 0 : (padded - window) / stride + 1;
}

int64_t WindowDim::source(int64_t position, int64_t offset, int64_t extent) const {
  const int64_t at = position * stride + offset * dilation - low;
  if (at < 0 || at % base_dilation != 0 || at / base_dilation >= extent) return -1;
  return at / base_dilation;
}

bool WindowDim::is_trivial() const { return size == 1 && stride == 1 && low == 0 && high == 0 && base_dilation == 1; }

std::vector<int64_t> ints_or(const Attrs& attrs, std::string_view name, size_t count, int64_t otherwise) {
  return attrs.ints(name, std::vector<int64_t>(count, otherwise));
}

Window read_window(const Attrs& attrs) {
  const std::vector<int64_t> dimensions = attrs.ints("window_dimensions");
  const size_t rank = dimensions.size();
  const auto strides = ints_or(attrs, "window_strides", rank, 1);
  const auto base = ints_or(attrs, "base_dilations", rank, 1);
  const auto dilations = ints_or(attrs, "window_dilations", rank, 1);
  const auto padding = ints_or(attrs, "padding", 2 * rank, 0);
  Window window(rank);
  for (size_t d = 0; d < rank; ++d) {
    const auto entry = [&](const std::vector<int64_t>& values) { return d < values.size() ? values[d] : -1; };
    window[d] = {
        .size = dimensions[d], .stride = entry(strides), .base_dilation = entry(base), .dilation = entry(dilations)};
    if (padding.size() != 2 * rank) continue;
    window[d].low = padding[2 * d];
    window[d].high = padding[2 * d + 1];
  }
  return window;
}

AttrMap window_attrs(const Window& window) {
  std::vector<int64_t> strides, base, dilations;
  for (const WindowDim& dim : window) {
    strides.push_back(dim.stride);
    base.push_back(dim.base_dilation);
    dilations.push_back(dim.dilation);
  }
  return {{"window_dimensions", sizes(window)},
          {"window_strides", strides},
          {"base_dilations", base},
          {"window_dilations", dilations},
          {"padding", padding_attr(window)}};
}

void check_window(const InferArgs& args, const Window& window, int rank) {
  if (static_cast<int>(window.size()) != rank) {
    args.fail(fmt::format("the window has {} dimensions, the operand {}", window.size(), rank));
  }
  const Attrs attrs = args.attrs();
  if (attrs.has("padding") && static_cast<int>(attrs.ints("padding").size()) != 2 * rank) {
    args.fail(fmt::format("padding must have {} pairs [low, high]", rank));
  }
  for (size_t d = 0; d < window.size(); ++d) {
    const WindowDim& dim = window[d];
    check_lengths(args, "the window's sizes, strides, padding and dilations",
                  {dim.size, dim.stride, dim.low, dim.high, dim.base_dilation, dim.dilation});
    if (dim.size >= 1 && dim.stride >= 1 && dim.base_dilation >= 1 && dim.dilation >= 1) continue;
    args.fail(
        fmt::format("window dimension {}: size, stride and dilations must be given and at least 1, not {}, {}, {}, {}",
                    d, dim.size, dim.stride, dim.base_dilation, dim.dilation));
  }
}

Attr padding_attr(const Window& window) {
  std::vector<int64_t> padding;
  for (const WindowDim& dim : window) padding.insert(padding.end(), {dim.low, dim.high});
  auto literal = std::make_shared<Literal>(*dense_ints(padding));
  literal->type.shape = {static_cast<int64_t>(window.size()), 2};
  return LiteralRef(std::move(literal));
}

Shape positions(const Window& window, const Shape& operand) {
  Shape result;
  for (size_t d = 0; d < window.size(); ++d) result.push_back(window[d].positions(operand[d]));
  return result;
}

Shape sizes(const Window& window) {
  Shape result;
  for (const WindowDim& dim : window) result.push_back(dim.size);
  return result;
}

Window transposed(const Window& window, const Shape& operand, const Shape& result) {
  Window back = window;
  for (size_t d = 0; d < window.size(); ++d) {
    const WindowDim& dim = window[d];
    const int64_t window_extent = dilated_extent(dim.size, dim.dilation);
    back[d].stride = dim.base_dilation;
    back[d].base_dilation = dim.stride;
    back[d].reversed = !dim.reversed;
    back[d].low = window_extent - dim.low - 1;
    back[d].high = dilated_extent(operand[d], dim.base_dilation) + window_extent - 1 -
                   dilated_extent(result[d], dim.stride) - back[d].low;
  }
  return back;
}

}  // namespace ingot::ops
