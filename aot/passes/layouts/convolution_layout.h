// How a convolution's tensors may lie, and what it takes then.
#pragma once

#include <array>
#include <span>

#include "aot/graph/op.h"
#include "aot/graph/order.h"
#include "aot/loops/target.h"

namespace ingot::layouts {

// A convolution's tensors: its operands, then its result.
inline constexpr int kConvolutionTensors = 3;
Value* tensor_of(const Op& convolution, int tensor);

struct ConvolutionLayout {
  // Of a tensor: its dimensions that are no positions. A kernel has output channels first, and input channels.
  struct Roles {
    int64_t first, channels;
  };
  // Two tensors that cost more when one has its channels last and the other has not.
  struct Pair {
    int last, other;
  };

  // The gradient of a convolution's kernel: the result is a kernel,
  // and operand 1 has positions where others have a kernel.
  bool is_kernel_gradient = false;
  std::array<Roles, kConvolutionTensors> roles = {};
  std::array<Shape, kConvolutionTensors> shapes;
  std::array<Order, kConvolutionTensors> channels_last;  // activations [N, H, W, C], kernels [O, H, W, I]

  // Predicted nanoseconds: of the multiply-adds; for each tensor, what is added where its channels are last, and where
  // they are not; and what each of the pairs adds.
  double multiply_ns = 0;
  std::array<double, kConvolutionTensors> last_ns = {}, other_ns = {};
  double crosswise_ns = 0;

  bool is_last(int tensor, const Order& order) const;
  double ns_of(int tensor, const Order& order) const;
  std::span<const Pair> crosswise() const;
  double predicted_ns(const std::array<Order, kConvolutionTensors>& orders) const;
};

ConvolutionLayout convolution_layout(const Op& convolution, const loops::Target& target);

// Of a convolution like `op` whose tensors lie in these orders.
AttrMap convolution_attrs(const Op& op, const std::array<Order, kConvolutionTensors>& orders);

// Predicted nanoseconds of a transpose of such a tensor.
double transpose_ns(const TensorType& type, const loops::Machine& machine);

}  // namespace ingot::layouts
