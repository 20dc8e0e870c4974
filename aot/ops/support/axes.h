// What ops share of their rules for other orders of dimensions (aot/graph/axes.h).
#pragma once

#include "aot/graph/axes.h"

namespace ingot::ops {

// Dimension d is axis d.
layouts::AxisOfDim each_its_own(int rank);

// Tensors of one rank share all dimensions; others are scalars.
std::optional<layouts::Axes> same_dims(const Op& op);

AttrMap unchanged(const Op& op, const layouts::Axes& axes, const layouts::Order& order);

// `dimension`, `iota_dimension` and `dimensions`: numbers of dimensions of operand 0, or of the result of an op that has
// no operands.
AttrMap with_numbers(const Op& op, const layouts::Axes& axes, const layouts::Order& order);

// What has an entry for each dimension: starts, limits, strides, padding.
AttrMap with_entries(const Op& op, const layouts::Axes& axes, const layouts::Order& order);

inline constexpr layouts::AxisRule kElementwiseAxes = {same_dims, unchanged};
inline constexpr layouts::AxisRule kNumberedAxes = {same_dims, with_numbers};
inline constexpr layouts::AxisRule kListedAxes = {same_dims, with_entries};
extern const layouts::AxisRule kWindowAxes;  // windows see their elements in the order written

}  // namespace ingot::ops
