// Walking indices of tensors: what the reference evaluations share.
#pragma once

#include <vector>

#include "aot/graph/tensor.h"

namespace ingot::ops {

// body(at, k) for every index `at` of `shape` in row-major order; k counts from 0.
template <typename Body>
void for_each_index(const Shape& shape, Body body) {
  if (element_count(shape) == 0) return;
  Shape at(shape.size());
  int64_t k = 0;
  do {
    body(at, k++);
  } while (next_index(at, shape));
}

// A tensor whose element at `at` is x's element number base + sum of at[d] * strides[d].
RefTensor strided_copy(const TensorType& type, const RefTensor& x, int64_t base, const Shape& strides);

// Puts the elements of `box` into `into`, the first one at element number `base`.
void place_box(RefTensor& into, int64_t base, const RefTensor& box);

// The linear offsets, in a row-major tensor of `shape`, of all indices over `dims` alone (the first varies slowest),
// the other dimensions being 0.
std::vector<int64_t> offsets(const Shape& shape, const std::vector<int64_t>& dims);

// The dimensions 0 .. rank that are not in `dims`, ascending.
std::vector<int64_t> other_dims(int rank, const std::vector<int64_t>& dims);

// Where `dim` stands in `dims`; -1 when it is absent.
int position_of(const std::vector<int64_t>& dims, int64_t dim);

// inverse[permutation[i]] = i.
std::vector<int64_t> inverse_permutation(const std::vector<int64_t>& permutation);

// The extents of `shape` at `dims`, in their order.
Shape extents(const Shape& shape, const std::vector<int64_t>& dims);

// 0, 1, ..., count - 1.
std::vector<int64_t> iota_dims(int count);

}  // namespace ingot::ops
