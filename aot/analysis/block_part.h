// TensorPart of tensors: along each dimension a stretch of it, which begins where a block does.
#pragma once

#include <optional>
#include <vector>

#include "aot/analysis/block_region.h"
#include "aot/graph/access_map.h"

namespace ingot {

struct DimPart {
  BlockStarts starts;  // none: from the first element on
  int64_t extent;
  bool operator==(const DimPart&) const = default;
};
using TensorPart = std::vector<DimPart>;

inline DimPart whole(int64_t extent) { return {{}, extent}; }
inline bool is_whole(const DimPart& part, int64_t extent) { return part.starts.empty() && part.extent == extent; }

Shape extents(const TensorPart& parts);

// Where the part begins in a tensor of this shape, in elements.
BlockStarts flat_starts(const TensorPart& parts, const Shape& shape);

// Whether the part's elements follow each other in a tensor of this shape.
bool lies_in_line(const TensorPart& parts, const Shape& shape);

// The only dimension of a space that a map follows, step by step from the first place on; nullopt for any other map.
std::optional<int> followed_dim(const AxisMap& axis);

// The part of an operand's dimension (of `extent`) that a part of a space reads through a map: all of it where what it
// follows is whole. Nullopt where that is no part.
std::optional<DimPart> moved(const AxisMap& axis, const TensorPart& parts, const Shape& space, int64_t extent);

// The same for a slice, whose start and step stay within the part.
std::optional<DimPart> sliced(const AxisMap& axis, const TensorPart& parts);

// The part of a tensor of shape `to` that has the elements of a part of its reshape to `from`, in their order.
std::optional<TensorPart> reshaped(const TensorPart& parts, const Shape& from, const Shape& to);

}  // namespace ingot
