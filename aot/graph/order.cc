#include "aot/graph/order.h"

#include <algorithm>
#include <numeric>

namespace ingot::layouts {

Order as_written(size_t rank) {
  Order order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Shape in_order(const Shape& shape, const Order& order) {
  Shape result;
  for (const int64_t dim : order) result.push_back(shape[dim]);
  return result;
}

TensorType in_order(const TensorType& type, const Order& order) {
  TensorType result = type;
  result.shape = in_order(type.shape, order);
  return result;
}

bool lies_alike(const Shape& shape, const Order& a, const Order& b) {
  const auto long_dims = [&](Order order) {
    std::erase_if(order, [&](int64_t dim) { return shape[dim] == 1; });
    return order;
  };
  return long_dims(a) == long_dims(b);
}

Order permutation(const Order& from, const Order& to) {
  Order result;
  for (const int64_t dim : to) result.push_back(std::ranges::find(from, dim) - from.begin());
  return result;
}

}  // namespace ingot::layouts
