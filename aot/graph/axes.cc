#include "aot/graph/axes.h"

namespace ingot::layouts {

Order along(const AxisOfDim& tensor, const Order& axes) {
  Order order;
  for (const int64_t axis : axes) {
    for (size_t d = 0; d < tensor.size(); ++d) {
      if (tensor[d] == axis) order.push_back(static_cast<int64_t>(d));
    }
  }
  return order;
}

}  // namespace ingot::layouts
