#include "aot/analysis/block_part.h"

#include <algorithm>

namespace ingot {
namespace {

BlockStarts scaled(BlockStarts starts, int64_t factor) {
  for (BlockStart& start : starts) start.factor *= factor;
  return starts;
}

// Two digits of a block's number that follow each other are one.
void add_start(BlockStarts& starts, const BlockStart& outer) {
  for (BlockStart& inner : starts) {
    const bool follows = inner.axis == outer.axis && inner.modulus > 0 &&
                         outer.divisor == inner.divisor * inner.modulus && outer.factor == inner.factor * inner.modulus;
    if (!follows) continue;
    inner.modulus *= outer.modulus;
    return;
  }
  starts.push_back(outer);
}

std::vector<int> followed_dims(const AxisMap& axis) {
  std::vector<int> dims;
  for (size_t d = 0; d < axis.coefficients.size(); ++d) {
    if (axis.coefficients[d] != 0) dims.push_back(static_cast<int>(d));
  }
  return dims;
}

// Dimensions first .. end, as many of both tensors as make up the same elements.
struct Group {
  size_t from, from_end, to, to_end;
};

std::vector<Group> groups_of(const Shape& from, const Shape& to) {
  std::vector<Group> groups;
  for (size_t i = 0, j = 0; i < from.size() || j < to.size();) {
    Group group{i, i, j, j};
    int64_t left = 1, right = 1;
    do {
      if (left <= right && i < from.size()) {
        left *= from[i++];
      } else {
        right *= to[j++];
      }
    } while (left != right);
    group.from_end = i;
    group.to_end = j;
    groups.push_back(group);
  }
  return groups;
}

// Dimensions of a group longer than 1.
std::vector<size_t> long_dims(const Shape& shape, size_t first, size_t end) {
  std::vector<size_t> dims;
  for (size_t d = first; d < end; ++d) {
    if (shape[d] != 1) dims.push_back(d);
  }
  return dims;
}

// Several dimensions as one: places along the outer ones, a stretch of one, all of the inner ones.
std::optional<DimPart> joined(const TensorPart& parts, const Shape& from, const std::vector<size_t>& dims) {
  DimPart made{{}, 1};
  int64_t inner = 1;
  for (size_t k = dims.size(); k-- > 0;) {
    const DimPart& part = parts[dims[k]];
    if (made.extent != inner && part.extent != 1) return std::nullopt;
    for (const BlockStart& start : scaled(part.starts, inner)) add_start(made.starts, start);
    made.extent *= part.extent;
    inner *= from[dims[k]];
  }
  return made;
}

// One dimension as several: one place of the outer ones, all of the inner ones.
bool split(DimPart part, const Shape& to, const std::vector<size_t>& dims, TensorPart& made) {
  int64_t inner = 1;
  size_t k = dims.size();
  while (part.extent > 1) {
    if (k == 0 || part.extent % to[dims[k - 1]] != 0) return false;
    --k;
    part.extent /= to[dims[k]];
    inner *= to[dims[k]];
    made[dims[k]] = whole(to[dims[k]]);
  }
  if (part.starts.size() != 1 || part.starts[0].factor != inner) return false;
  BlockStart start = part.starts[0];
  start.factor = 1;
  while (k-- > 0) {
    BlockStart digit = start;
    if (k > 0 || start.modulus != 0) digit.modulus = to[dims[k]];
    made[dims[k]] = {{digit}, 1};
    start.divisor *= to[dims[k]];
  }
  return true;
}

}  // namespace

Shape extents(const TensorPart& parts) {
  Shape shape;
  for (const DimPart& part : parts) shape.push_back(part.extent);
  return shape;
}

BlockStarts flat_starts(const TensorPart& parts, const Shape& shape) {
  BlockStarts flat;
  const Shape strides = row_major_strides(shape);
  for (size_t d = 0; d < parts.size(); ++d) {
    const BlockStarts starts = scaled(parts[d].starts, strides[d]);
    flat.insert(flat.end(), starts.begin(), starts.end());
  }
  return flat;
}

bool lies_in_line(const TensorPart& parts, const Shape& shape) {
  size_t d = 0;
  while (d < parts.size() && parts[d].extent == 1) ++d;
  for (++d; d < parts.size(); ++d) {
    if (!is_whole(parts[d], shape[d])) return false;
  }
  return true;
}

std::optional<int> followed_dim(const AxisMap& axis) {
  const std::vector<int> dims = followed_dims(axis);
  const bool is_plain =
      dims.size() == 1 && axis.coefficients[dims[0]] == 1 && axis.constant == 0 && axis.divisor == 1 && axis.start < 0;
  return is_plain ? std::optional(dims[0]) : std::nullopt;
}

std::optional<DimPart> moved(const AxisMap& axis, const TensorPart& parts, const Shape& space, int64_t extent) {
  const std::vector<int> dims = followed_dims(axis);
  if (std::ranges::all_of(dims, [&](int d) { return is_whole(parts[d], space[d]); })) return whole(extent);
  const std::optional<int> dim = followed_dim(axis);
  return dim && space[*dim] == extent ? std::optional(parts[*dim]) : std::nullopt;
}

std::optional<DimPart> sliced(const AxisMap& axis, const TensorPart& parts) {
  const std::vector<int> dims = followed_dims(axis);
  if (dims.empty()) return DimPart{{}, axis.constant + 1};
  const int64_t step = axis.coefficients[dims[0]];
  if (dims.size() > 1 || step < 1) return std::nullopt;
  const DimPart& part = parts[dims[0]];
  return DimPart{scaled(part.starts, step), axis.constant + step * (part.extent - 1) + 1};
}

std::optional<TensorPart> reshaped(const TensorPart& parts, const Shape& from, const Shape& to) {
  if (element_count(from) == 0) return std::nullopt;
  TensorPart made;
  for (const int64_t extent : to) made.push_back(whole(extent));
  for (const Group& group : groups_of(from, to)) {
    const std::vector<size_t> outer = long_dims(from, group.from, group.from_end);
    const std::vector<size_t> inner = long_dims(to, group.to, group.to_end);
    if (std::ranges::all_of(outer, [&](size_t d) { return is_whole(parts[d], from[d]); })) continue;
    const std::optional<DimPart> one = joined(parts, from, outer);
    if (!one) return std::nullopt;
    if (inner.size() == 1) {
      made[inner[0]] = *one;
    } else if (!split(*one, to, inner, made)) {
      return std::nullopt;
    }
  }
  return made;
}

}  // namespace ingot
