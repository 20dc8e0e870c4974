// A contraction as the choice of its kernel sees it: rows x columns x depth, one way round or the other. Read off the
// op once; nothing here depends on tiles, blocks or tasks.
#pragma once

#include <algorithm>

#include "aot/schedule/contraction/geometry.h"
#include "aot/schedule/contraction/made_columns.h"
#include "aot/schedule/draft.h"

namespace ingot::schedule {

// How neighbours of an operand lie, and so what packing an element of it costs.
enum class Lie : uint8_t {
  kInLine,     // along the way in which packed vectors run: copied in vectors
  kAcross,     // along the other way: vectors are loaded, transposed and stored
  kScattered,  // neither: gathered
};

// One operand in its place: rows, whose elements are spread to all lanes, or columns, whose vectors are multiplied.
struct OperandSide {
  ContractionSide side;
  int operand;            // of the op
  std::vector<int> dims;  // iteration dimensions of rows or of columns, outermost first; longer than 1
  Lie lie = Lie::kScattered;
  bool is_kept = false;                 // it lies in a buffer
  bool is_in_buffer = false;            // ... at affine places
  bool is_plain = false;                // ... and of the accumulators' dtype
  bool is_moved = false;                // on the way from a buffer: read against its order
  bool is_invariant = false;            // the same in each iteration of a loop around the kernel
  bool is_joined = false;               // of pieces along the depth, on the way
  bool can_be_prepared = false;         // a step of its own can pack all of it
  bool can_be_hoisted = false;          // ... before the loop around the kernel
  std::optional<MadeColumns> made;      // columns along the depth that are made where they are multiplied
  std::optional<int64_t> stride;        // over all of `dims` walked as one
  std::optional<int64_t> depth_stride;  // over all of the depth walked as one

  // A matrix of which each step of the depth lies in line.
  bool has_steps_in_line() const { return is_plain && stride == 1 && depth_stride; }
};

// One way round.
struct Orientation {
  std::vector<int> batch;  // iteration dimensions longer than 1 whose every place is a contraction of its own
  OperandSide rows, columns;
  // The columns are a batch dimension along which both operands lie in line (channels that are convolved apart): rows
  // have an element for each column, and vectors of them are multiplied.
  bool has_own_rows = false;
  // Vectors run along the depth, and each result is the total of one: both operands lie in line along it, or there are
  // fewer columns than lanes and rows do.
  int depth_lanes = 1;
  std::vector<int> depth;     // iteration dimensions longer than 1, as the rows' operand has them: longest stride first
  int lanes = 1;              // 1 where there are no columns
  int64_t result_stride = 0;  // result elements between neighbouring columns

  int vector_lanes() const { return std::max(lanes, depth_lanes); }
  bool is_along_depth() const { return depth_lanes > 1; }
};

struct ContractionProblem {
  const Op* op = nullptr;
  loops::Contraction space;
  DType accumulator;  // a register dtype
  std::vector<Orientation> ways;
  int64_t epilogue_bytes = 0;  // of what follows: arrays like the result that it reads or writes, beside the result

  int64_t extent(const std::vector<int>& dims) const;
  Shape extents(const std::vector<int>& dims) const;
  int64_t accumulator_bytes() const { return info(accumulator).bytes; }
  int64_t operand_bytes(const OperandSide& it) const {
    return it.made ? it.made->source_bytes : it.side.value->type.elements() * accumulator_bytes();
  }
};

// With the target's lanes. Every iteration dimension has elements.
ContractionProblem read_problem(const Draft& draft, const Op& root, const loops::Target& target);

// The depth in blocks of at most `limit` (at least 1).
Blocked cut_depth(const ContractionProblem& problem, const Orientation& way, int64_t limit);

// The columns in blocks of at most `limit` (a multiple of `tile`), as a tile of `tile` columns walks them. Neighbouring
// dimensions that both the operand and the result walk through evenly are one axis.
Blocked cut_columns(const ContractionProblem& problem, const Orientation& way, int64_t tile, int64_t limit);

}  // namespace ingot::schedule
