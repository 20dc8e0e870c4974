// The axes of an op's tensors (aot/graph/axes.h), as a choice of orders asks for them.
#pragma once

#include <optional>

#include "aot/graph/axes.h"
#include "aot/graph/op.h"

namespace ingot::layouts {

// Nullopt: the op reads its operands as written, and gives its results so.
std::optional<Axes> axes_of(const Op& op);

// How the axes lie when a tensor lies in an order: nullopt where the tensor lacks an axis or tears one apart.
std::optional<Order> axes_along(const Axes& axes, const AxisOfDim& tensor, const Shape& shape, const Order& order);

// Whether the op means the same with its axes in another order.
bool may_lie(const Op& op, const Axes& axes, const Order& order);

// What costs nothing to make in any order: splats, iota, and what is broadcast from vectors and scalars.
bool made_again(const Value* value);

// The op's attributes when its tensors lie along `order`.
AttrMap attrs_along(const Op& op, const Axes& axes, const Order& order);

}  // namespace ingot::layouts
