#include "aot/ops/support/product.h"

#include "aot/ops/support/index.h"

namespace ingot::ops {
namespace {

// Each element becomes the product of all elements before it (`after`: after it) in the last dimension, in log2(n)
// products of twice as many neighbours each (Hillis and Steele, 1986).
Value* product_beside(GraphBuilder& b, Value* x, bool after) {
  Value* one = constant(b, {x->type.dtype, {}}, 1);
  const auto shifted = [&](Value* value, int64_t by) {
    const Shape none(x->type.rank(), 0);
    Shape low = none, high = none;
    low.back() = after ? -by : by;
    high.back() = -low.back();
    return pad(b, value, one, low, high, none);
  };
  Value* product = shifted(x, 1);
  for (int64_t count = 1; count + 1 < x->type.shape.back(); count *= 2) {
    product = multiply(b, product, shifted(product, count));
  }
  return product;
}

}  // namespace

Value* product_of_others(GraphBuilder& b, Value* x, const std::vector<int64_t>& dims) {
  const Shape& shape = x->type.shape;
  std::vector<int64_t> order = other_dims(x->type.rank(), dims);
  Shape rows = extents(shape, order);
  rows.push_back(element_count(extents(shape, dims)));
  order.insert(order.end(), dims.begin(), dims.end());
  Value* flat = reshape(b, transpose(b, x, order), rows);
  Value* others = multiply(b, product_beside(b, flat, false), product_beside(b, flat, true));
  return transpose(b, reshape(b, others, extents(shape, order)), inverse_permutation(order));
}

}  // namespace ingot::ops
