// What the gradient of a product needs.
#pragma once

#include "aot/ops/support/build.h"

namespace ingot::ops {

// Each element becomes the product of all other elements along `dims`. Nothing is divided, so it is right where
// elements are 0.
Value* product_of_others(GraphBuilder& b, Value* x, const std::vector<int64_t>& dims);

}  // namespace ingot::ops
