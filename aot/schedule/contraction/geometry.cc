#include "aot/schedule/contraction/geometry.h"

#include <algorithm>

#include "aot/base/divide.h"

namespace ingot::schedule {

using loops::ContractionDim;

int64_t Blocked::inner() const {
  int64_t product = 1;
  for (size_t k = cut + 1; k < axes.size(); ++k) product *= axes[k].extent;
  return product;
}

int64_t Blocked::last_width() const { return is_ragged() ? extent() % chunk * inner() : width(); }

int64_t Blocked::total() const {
  int64_t product = 1;
  for (const Axis& axis : axes) product *= axis.extent;
  return product;
}

Shape Blocked::block_shape() const {
  Shape shape;
  for (int k = 0; k < cut; ++k) shape.push_back(axes[k].extent);
  shape.push_back(chunks());
  return shape;
}

int64_t Blocked::count() const {
  int64_t product = chunks();
  for (int k = 0; k < cut; ++k) product *= axes[k].extent;
  return product;
}

void PlacesInside::narrow(int64_t step, int64_t low, int64_t high, int64_t extent) {
  const int64_t most = to;
  if (step < 0) {
    from = std::max(from, divide_up(high - extent + 1, -step));
    to = std::min(to, floor_divide(low, -step) + 1);
  } else if (step > 0) {
    from = std::max(from, -floor_divide(low, step));
    to = std::min(to, floor_divide(extent - 1 - high, step) + 1);
  } else if (low < 0 || high >= extent) {
    to = from;
  }
  from = std::min(from, most);
  to = std::clamp(to, from, most);
}

bool ContractionSide::is_affine() const {
  return std::ranges::all_of(accesses, [](const AxisMap& access) { return access.always && access.divisor == 1; });
}

bool ContractionSide::is_dilated() const {
  return std::ranges::any_of(accesses, [](const AxisMap& access) { return access.divisor != 1; });
}

int64_t ContractionSide::stride(int dim) const {
  const Shape strides = row_major_strides(value->type.shape);
  int64_t stride = 0;
  for (size_t j = 0; j < accesses.size(); ++j) stride += accesses[j].coefficients[dim] * strides[j];
  return stride;
}

int64_t ContractionSide::constant() const {
  const Shape strides = row_major_strides(value->type.shape);
  int64_t constant = 0;
  for (size_t j = 0; j < accesses.size(); ++j) constant += accesses[j].constant * strides[j];
  return constant;
}

std::optional<int64_t> ContractionSide::linear(const std::vector<int>& dims,
                                               const std::vector<ContractionDim>& space) const {
  if (!is_affine()) return std::nullopt;
  for (size_t k = 0; k + 1 < dims.size(); ++k) {
    if (stride(dims[k]) != stride(dims[k + 1]) * space[dims[k + 1]].extent) return std::nullopt;
  }
  return dims.empty() ? 0 : stride(dims.back());
}

int64_t result_stride(const loops::Contraction& space, const Shape& result, int dim) {
  const Shape strides = row_major_strides(result);
  int64_t stride = 0;
  for (size_t j = 0; j < space.out.size(); ++j) stride += space.out[j].coefficients[dim] * strides[j];
  return stride;
}

}  // namespace ingot::schedule
