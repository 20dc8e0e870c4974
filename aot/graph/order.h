// The order in which a tensor's dimensions lie in memory.
#pragma once

#include <vector>

#include "aot/graph/type.h"

namespace ingot::layouts {

// Entry i is the dimension, by its number in the program, that lies at place i; the last place is contiguous.
// {0, 2, 3, 1} puts the channels of [batch, channels, height, width] last.
using Order = std::vector<int64_t>;

Order as_written(size_t rank);
Shape in_order(const Shape& shape, const Order& order);
TensorType in_order(const TensorType& type, const Order& order);

// Whether the elements of a tensor of this shape lie alike: dimensions of extent 1 may lie anywhere.
bool lies_alike(const Shape& shape, const Order& a, const Order& b);

// The permutation of a transpose from one order to another.
Order permutation(const Order& from, const Order& to);

}  // namespace ingot::layouts
