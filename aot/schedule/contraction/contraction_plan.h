// What a contraction looks like to the template: rows x columns x depth, which operand gives which, what is packed, how
// it is blocked and split into tasks. Decided from shapes and the target's row alone.
#pragma once

#include "aot/loops/contraction.h"
#include "aot/schedule/step.h"

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
  int64_t width_of_cut() const { return extent() * inner(); }
  int64_t chunks() const { return (extent() + chunk - 1) / chunk; }
  Shape block_shape() const;  // how many blocks: the outer axes, then chunks
  int64_t count() const { return element_count(block_shape()); }
  int64_t total() const;                                    // product of all axes
  bool is_ragged() const { return extent() % chunk != 0; }  // the last block of the cut axis is shorter
};

// One operand: where its element lies for a point of the iteration space.
struct ContractionSide {
  const Value* value = nullptr;
  std::vector<loops::ContractionAccess> accesses;  // one for each dimension of the value

  bool is_affine() const;         // every point has an element, at an affine index
  int64_t stride(int dim) const;  // of an affine or at least undilated access, in elements of the flat operand
  int64_t constant() const;       // flat index at the origin
  // The one stride over all of `dims` (iteration dimensions, outermost first) walked as one;
  // nullopt when there is none.
  std::optional<int64_t> linear(const std::vector<int>& dims, const std::vector<loops::ContractionDim>& space) const;
};

// A part of the depth with operands of its own: where the contraction's are concatenated along the depth, which is then
// one axis in one block, each of theirs. Else there is one, all of the depth.
struct Stretch {
  int64_t start, end;
  ContractionSide rows_side, columns_side;
  bool rows_in_place = false;  // the register tile reads them where they lie
};

enum class Packing : uint8_t {
  kNone,   // read where it lies
  kWhole,  // rows side only: all of it once in each task
  kBlock,  // a block at a time
};

struct ContractionPlan {
  loops::Contraction space;
  const Op* op = nullptr;
  ContractionSide rows_side, columns_side;
  int columns_operand = 1;                   // of `op`
  std::vector<int> batch, rows, depth_dims;  // iteration dimensions longer than 1, outermost first
  Blocked columns, depth;
  std::vector<Stretch> stretches;  // of a block of the depth, in order
  bool result_is_linear = false;   // over a whole block of columns: result elements follow each other

  int lanes = 1;
  int tile_rows = 1;  // of the register tile
  int tile_vectors = 1;
  Packing pack_rows = Packing::kNone;  // of those that are not read in place
  bool rows_lie_across = false;        // packed with rows, not depth, contiguous
  bool pack_columns = false;
  bool prepare_columns = false;      // packed by a step of its own, once for all tasks; ...
  bool columns_are_hoisted = false;  // ... and for all iterations of a loop
  bool columns_in_panels = false;    // packed as panels of one tile's width; else as rows of a whole block's

  // Tasks: batch x row_parts x column_parts x depth_parts.
  int64_t row_parts = 1, rows_each = 1;
  int64_t column_parts = 1, column_blocks_each = 1;
  int64_t depth_parts = 1, depth_blocks_each = 1;
  int64_t row_block = 1;  // rows that stay in the second-level cache

  int64_t row_count() const { return extent(rows); }
  int64_t batch_count() const { return extent(batch); }
  int64_t extent(const std::vector<int>& dims) const;
  Shape extents(const std::vector<int>& dims) const;
  int tile_columns() const { return tile_vectors * lanes; }
};

// Every iteration dimension has elements.
ContractionPlan plan_contraction(const Draft& draft, const Op& root);

}  // namespace ingot::schedule
