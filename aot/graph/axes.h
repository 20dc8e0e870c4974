// Which dimensions of an op's operands and results go together: what lets a choice of order pass through the op.
#pragma once

#include <optional>

#include "aot/graph/graph.h"
#include "aot/graph/order.h"

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

// What an op is when its tensors lie in other orders (`OpDef::axes`).
struct AxisRule {
  std::optional<Axes> (*axes)(const Op& op);  // nullopt: it reads its operands as written, and gives its results so
  AttrMap (*attrs)(const Op& op, const Axes& axes, const Order& order);  // when its axes lie along `order`
  // Whether it means the same then. Null pointer: always.
  bool (*may_lie)(const Op& op, const Axes& axes, const Order& order) = nullptr;
};

// How a tensor lies when the axes lie in an order.
Order along(const AxisOfDim& tensor, const Order& axes);

}  // namespace ingot::layouts
