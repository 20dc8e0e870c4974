#include "aot/ops/support/index.h"

#include <algorithm>
#include <numeric>

namespace ingot::ops {

RefTensor strided_copy(const TensorType& type, const RefTensor& x, int64_t base, const Shape& strides) {
  RefTensor result(type);
  for_each_index(type.shape,
                 [&](const Shape& at, int64_t k) { result.copy_element(k, x, base + linear_index(at, strides)); });
  return result;
}

void place_box(RefTensor& into, int64_t base, const RefTensor& box) {
  const Shape strides = row_major_strides(into.type.shape);
  for_each_index(box.type.shape,
                 [&](const Shape& at, int64_t k) { into.copy_element(base + linear_index(at, strides), box, k); });
}

std::vector<int64_t> offsets(const Shape& shape, const std::vector<int64_t>& dims) {
  const Shape strides = extents(row_major_strides(shape), dims);
  std::vector<int64_t> result;
  for_each_index(extents(shape, dims), [&](const Shape& at, int64_t) { result.push_back(linear_index(at, strides)); });
  return result;
}

std::vector<int64_t> other_dims(int rank, const std::vector<int64_t>& dims) {
  std::vector<int64_t> others;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (position_of(dims, dim) < 0) others.push_back(dim);
  }
  return others;
}

int position_of(const std::vector<int64_t>& dims, int64_t dim) {
  const auto found = std::find(dims.begin(), dims.end(), dim);
  return found == dims.end() ? -1 : static_cast<int>(found - dims.begin());
}

std::vector<int64_t> inverse_permutation(const std::vector<int64_t>& permutation) {
  std::vector<int64_t> inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) inverse[permutation[i]] = static_cast<int64_t>(i);
  return inverse;
}

Shape extents(const Shape& shape, const std::vector<int64_t>& dims) {
  Shape result;
  for (int64_t dim : dims) result.push_back(shape[dim]);
  return result;
}

std::vector<int64_t> iota_dims(int count) {
  std::vector<int64_t> dims(count);
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

}  // namespace ingot::ops
