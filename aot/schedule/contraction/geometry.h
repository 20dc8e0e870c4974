// The iteration space of a contraction as loops walk it: axes of several dimensions, blocks of axes, and where operands
// keep the elements of a point.
#pragma once

#include <optional>
#include <vector>

#include "aot/graph/graph.h"
#include "aot/loops/contraction.h"

namespace ingot::schedule {

// Iteration dimensions walked as one: the last runs through all of them, past its own extent; the others are 0.
struct Axis {
  std::vector<int> dims;
  int64_t extent;
};

// Axes walked in blocks: those before `cut` one by one, `chunk` of the cut one at a time, those after it whole.
struct Blocked {
  std::vector<Axis> axes;  // outermost first; never empty
  int cut = 0;
  int64_t chunk = 1;

  int64_t extent() const { return axes[cut].extent; }  // of the cut axis
  int64_t inner() const;                               // product of the axes after it
  int64_t width() const { return chunk * inner(); }    // of a whole block
  int64_t last_width() const;                          // of the last block along the cut axis
  int64_t width_of_cut() const { return extent() * inner(); }
  int64_t chunks() const { return (extent() + chunk - 1) / chunk; }
  Shape block_shape() const;  // how many blocks: the outer axes, then chunks
  int64_t count() const;
  int64_t total() const;                                    // product of all axes
  bool is_ragged() const { return extent() % chunk != 0; }  // the last block of the cut axis is shorter
  bool cuts_last_axis() const { return cut == static_cast<int>(axes.size()) - 1; }
};

// The innermost of some dimensions, -1 where there are none.
inline int last_or_none(const std::vector<int>& dims) { return dims.empty() ? -1 : dims.back(); }

// Of places 0, 1, ... along a dimension those from `from` to `to`, where windows reach past neither end of an operand.
struct PlacesInside {
  int64_t from, to;

  // Only those whose element lies within 0 .. extent: place k reads one at k * step + something from `low` to `high`.
  void narrow(int64_t step, int64_t low, int64_t high, int64_t extent);
};

// One operand: where its element lies for a point of the iteration space.
struct ContractionSide {
  const Value* value = nullptr;
  std::vector<AxisMap> accesses;  // one for each dimension of the value

  bool is_affine() const;         // every point has an element, at an affine index
  bool is_dilated() const;        // its elements lie spread out
  int64_t stride(int dim) const;  // of an affine or at least undilated access, in elements of the flat operand
  int64_t constant() const;       // flat index at the origin
  // The one stride over all of `dims` (iteration dimensions, outermost first) walked as one;
  // nullopt when there is none.
  std::optional<int64_t> linear(const std::vector<int>& dims, const std::vector<loops::ContractionDim>& space) const;
};

// Result elements between neighbours along an iteration dimension.
int64_t result_stride(const loops::Contraction& space, const Shape& result, int dim);

}  // namespace ingot::schedule
