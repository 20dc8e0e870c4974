// Which dimensions of an op's operands and results go together: what lets a choice of order pass through the op.
#pragma once

#include <optional>

#include "aot/graph/op.h"
#include "aot/passes/layouts/order.h"

namespace ingot::layouts {

// For each dimension of a tensor, its axis. Neighbouring dimensions of one axis stay together, in order.
using AxisOfDim = std::vector<int>;

// The common axes of an op's tensors: an axis is a dimension, or what a reshape splits or merges.
//
//   transpose [N, C, H, W] -> [N, H, W, C]   operand 0 3 1 2, result 0 1 2 3
//   reshape   [N, C, H, W] -> [N, G, D, HW]  operand 0 1 2 2, result 0 1 1 2
//   reduce    [N, C, H, W] -> [N, C]         operand 0 1 2 3, result 0 1
struct Axes {
  Shape extents;                    // of each axis, the longest
  std::vector<AxisOfDim> operands;  // a scalar has none
  AxisOfDim result;                 // ascending: results lie as written when the axes do. All results are alike
};

// Nullopt: the op reads its operands as written, and gives its results so.
std::optional<Axes> axes_of(const Op& op);

// How a tensor lies when the axes lie in an order, and the other way round: nullopt where the tensor lacks an axis or
// tears one apart.
Order along(const AxisOfDim& tensor, const Order& axes);
std::optional<Order> axes_along(const Axes& axes, const AxisOfDim& tensor, const Shape& shape, const Order& order);

// Whether the op means the same with its axes in another order: windows see their elements in the order written.
bool may_lie(const Op& op, const Axes& axes, const Order& order);

// What costs nothing to make in any order: splats, iota, and what is broadcast from vectors and scalars.
bool made_again(const Value* value);

// The op's attributes when its tensors lie along `order`.
AttrMap attrs_along(const Op& op, const Axes& axes, const Order& order);

}  // namespace ingot::layouts
