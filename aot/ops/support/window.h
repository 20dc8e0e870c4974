// Sliding windows: the geometry that convolution, reduce_window and select_and_scatter share.
//
// Along one dimension the operand's elements stand base_dilation apart, with `low` padding before and `high` after
// (negative padding cuts off); the window's elements stand `dilation` apart; its positions are `stride` apart.
#pragma once

#include <vector>

#include "aot/graph/op.h"

namespace ingot::ops {

struct WindowDim {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t low = 0, high = 0;
  int64_t base_dilation = 1;
  int64_t dilation = 1;
  bool reversed = false;  // convolution: window element k is kernel element size - 1 - k

  // Number of positions of the window over `extent` elements.
  int64_t positions(int64_t extent) const;
  // The operand's element under window element `offset` at `position`, or -1 where there is padding or a hole.
  int64_t source(int64_t position, int64_t offset, int64_t extent) const;
  bool is_trivial() const;  // one element, one step, no padding: the dimension passes through
};
using Window = std::vector<WindowDim>;

// (size - 1) * dilation + 1, or 2^60 where that is more; 0 for no elements.
int64_t dilated_extent(int64_t size, int64_t dilation);

// From the attributes of reduce_window and select_and_scatter: window_dimensions, window_strides, base_dilations,
// window_dilations, padding; all but the first may be absent.
Window read_window(const Attrs& attrs);
AttrMap window_attrs(const Window& window);

// Fails unless sizes, strides and dilations are positive and there is one for each of `rank` dimensions.
void check_window(const InferArgs& args, const Window& window, int rank);

// One entry for each dimension; an absent attribute is `count` times `otherwise`.
std::vector<int64_t> ints_or(const Attrs& attrs, std::string_view name, size_t count, int64_t otherwise);

// [[low, high], ...] as a dense i64 attribute.
Attr padding_attr(const Window& window);

// The shape of the window's positions over an operand.
Shape positions(const Window& window, const Shape& operand);

// Window sizes as a shape.
Shape sizes(const Window& window);

// The padding of the sum over windows that sends position gradients back to elements: with dy dilated by the stride and
// the window reversed, dx = windows over dy of stride base_dilation (as in JAX's convolution transpose).
Window transposed(const Window& window, const Shape& operand, const Shape& result);

}  // namespace ingot::ops
