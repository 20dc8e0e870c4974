#include "aot/passes/layouts/convolution_layout.h"

#include <algorithm>

#include "aot/analysis/flops.h"
#include "aot/base/divide.h"
#include "aot/ops/support/dimension_numbers.h"
#include "aot/ops/support/index.h"

namespace ingot::layouts {
namespace {

constexpr double kPeakShare = 0.57;  // of the machine's multiply-adds, that convolutions reach at least

// Shares of the time of the multiply-adds, as measured: what a tensor adds that does not lie along the vectors.
constexpr double kPositionsLast = 0.15;         // activations whose positions are contiguous
constexpr double kStridedPositionsLast = 0.4;   // ... when the window's steps skip some of them
constexpr double kGradientPositionsLast = 0.4;  // ... when the gradient of a kernel sums over them
constexpr double kApartPositionsLast = 4;       // ... when each channel is convolved apart
constexpr double kKernelAcross = 0.1;           // a kernel whose channels are not contiguous
constexpr double kShortDepth = 0.05;            // of the lanes that input channels leave empty
constexpr double kSingleVector = 0.2;           // a register tile of one vector of output channels
constexpr double kCrosswise = 2;                // tensors of which one has its channels last, and the other not

using Roles = ConvolutionLayout::Roles;

std::array<Roles, kConvolutionTensors> roles_of(const ops::ConvDims& d, bool is_kernel_gradient) {
  if (is_kernel_gradient) {
    return {{{d.input_feature, d.input_batch},
             {d.kernel_input_feature, d.kernel_output_feature},
             {d.output_feature, d.output_batch}}};
  }
  return {{{d.input_batch, d.input_feature},
           {d.kernel_output_feature, d.kernel_input_feature},
           {d.output_batch, d.output_feature}}};
}

// First, the positions in the order written, channels.
Order order_of(const Roles& roles, size_t rank) {
  Order order = as_written(rank);
  std::erase_if(order, [&](int64_t dim) { return dim == roles.first || dim == roles.channels; });
  order.insert(order.begin(), roles.first);
  order.push_back(roles.channels);
  return order;
}

// A kernel's output channels serve as well as its input channels.
bool lies_along_channels(const Shape& shape, const Order& order, const Roles& roles) {
  const auto innermost =
      std::ranges::find_if(order.rbegin(), order.rend(), [&](int64_t dim) { return shape[dim] != 1; });
  return innermost == order.rend() || *innermost == roles.first || *innermost == roles.channels;
}

// Empty lanes for each full one when vectors run along so many channels.
double slack(int64_t channels, int64_t lanes) {
  const int64_t run = std::max<int64_t>(channels, 1);
  return static_cast<double>(round_up(run, lanes)) / static_cast<double>(run) - 1;
}

void add_costs(ConvolutionLayout& layout, const Op& op, const ops::Convolution& conv, const loops::Target& target) {
  const int64_t lanes = target.lanes(DType::kF32);
  const int64_t groups = conv.feature_groups * conv.batch_groups;
  const auto channels_of_group = [&](int tensor) {
    return tensor_of(op, tensor)->type.shape[layout.roles[tensor].channels] / groups;
  };
  const bool is_strided = std::ranges::any_of(conv.window, [](const ops::WindowDim& dim) { return dim.stride > 1; });
  const double input_last = kShortDepth * slack(channels_of_group(0), lanes);
  std::array<double, kConvolutionTensors> other, last;
  const int output = layout.is_kernel_gradient ? 1 : 2;
  if (groups > 1 && channels_of_group(0) == 1 && channels_of_group(output) == 1) {
    const double empty = slack(groups, lanes);
    other = {kApartPositionsLast, kApartPositionsLast, kApartPositionsLast};
    other[layout.is_kernel_gradient ? 2 : 1] = kKernelAcross;
    last = {empty, 0, 0};
  } else if (layout.is_kernel_gradient) {
    other = {kGradientPositionsLast, kGradientPositionsLast, 0};
    last = {input_last, slack(channels_of_group(output), lanes), 0};
  } else {
    other = {is_strided ? kStridedPositionsLast : kPositionsLast, kKernelAcross, kPositionsLast};
    last = {input_last, 0,
            slack(channels_of_group(output), lanes) + (channels_of_group(2) > lanes ? 0 : kSingleVector)};
  }
  const double flops_per_ns = kPeakShare * 2 * static_cast<double>(lanes) * target.machine.multiply_adds_per_ns;
  layout.multiply_ns = static_cast<double>(count_flops(op)) / flops_per_ns;
  layout.crosswise_ns = layout.multiply_ns * kCrosswise;
  for (int tensor = 0; tensor < kConvolutionTensors; ++tensor) {
    layout.other_ns[tensor] = layout.multiply_ns * other[tensor];
    layout.last_ns[tensor] = layout.multiply_ns * last[tensor];
  }
}

}  // namespace

Value* tensor_of(const Op& convolution, int tensor) {
  return tensor < 2 ? convolution.operand(tensor) : convolution.result();
}

ConvolutionLayout convolution_layout(const Op& convolution, const loops::Target& target) {
  const Shape& kernel = convolution.operand(1)->type.shape;
  const ops::Convolution conv = ops::read_convolution(convolution.attrs(), kernel);
  ConvolutionLayout layout;
  const Shape& result = convolution.result()->type.shape;
  layout.is_kernel_gradient = element_count(ops::extents(result, conv.dims.output_spatial)) <
                              element_count(ops::extents(kernel, conv.dims.kernel_spatial));
  layout.roles = roles_of(conv.dims, layout.is_kernel_gradient);
  for (int tensor = 0; tensor < kConvolutionTensors; ++tensor) {
    const Shape& shape = layout.shapes[tensor] = tensor_of(convolution, tensor)->type.shape;
    const Order written = as_written(shape.size());
    layout.channels_last[tensor] = order_of(layout.roles[tensor], shape.size());
    if (layout.is_last(tensor, written)) layout.channels_last[tensor] = written;
  }
  add_costs(layout, convolution, conv, target);
  return layout;
}

bool ConvolutionLayout::is_last(int tensor, const Order& order) const {
  const bool is_kernel = tensor == (is_kernel_gradient ? 2 : 1);
  return lies_alike(shapes[tensor], order, channels_last[tensor]) ||
         (is_kernel && lies_along_channels(shapes[tensor], order, roles[tensor]));
}

double ConvolutionLayout::ns_of(int tensor, const Order& order) const {
  return is_last(tensor, order) ? last_ns[tensor] : other_ns[tensor];
}

double ConvolutionLayout::predicted_ns(const std::array<Order, kConvolutionTensors>& orders) const {
  double ns = multiply_ns;
  for (int tensor = 0; tensor < kConvolutionTensors; ++tensor) ns += ns_of(tensor, orders[tensor]);
  for (const auto& [last, other] : crosswise()) {
    if (is_last(last, orders[last]) && !is_last(other, orders[other])) ns += crosswise_ns;
  }
  return ns;
}

std::span<const ConvolutionLayout::Pair> ConvolutionLayout::crosswise() const {
  static constexpr Pair kForward[] = {{0, 2}, {2, 0}}, kKernelGradient[] = {{0, 1}, {1, 2}};
  return is_kernel_gradient ? std::span<const Pair>(kKernelGradient) : std::span<const Pair>(kForward);
}

AttrMap convolution_attrs(const Op& op, const std::array<Order, kConvolutionTensors>& orders) {
  ops::Convolution conv = ops::read_convolution(op.attrs(), op.operand(1)->type.shape);
  const auto renumber = [](const Order& order, std::initializer_list<int64_t*> singles, std::vector<int64_t>& spatial) {
    const Order place = permutation(order, as_written(order.size()));
    for (int64_t* dim : singles) *dim = place[*dim];
    for (int64_t& dim : spatial) dim = place[dim];
  };
  ops::ConvDims& d = conv.dims;
  renumber(orders[0], {&d.input_batch, &d.input_feature}, d.input_spatial);
  renumber(orders[1], {&d.kernel_input_feature, &d.kernel_output_feature}, d.kernel_spatial);
  renumber(orders[2], {&d.output_batch, &d.output_feature}, d.output_spatial);
  AttrMap attrs = op.attr_map;
  for (auto& [name, attr] : ops::to_attrs(conv)) attrs[name] = attr;
  return attrs;
}

double transpose_ns(const TensorType& type, const loops::Machine& machine) {
  return machine.kernel_ns + static_cast<double>(type.bytes()) * machine.transposed_byte_ns;
}

}  // namespace ingot::layouts
