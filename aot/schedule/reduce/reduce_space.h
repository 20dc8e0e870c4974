// The index space of a group of reduces: which dimensions stay, which are reduced,
// and which of them are walked as one run.
#pragma once

#include "aot/schedule/reduce/accumulate.h"

namespace ingot::schedule {

// Reduces of operands of one shape over the same dimensions, with what can be made in the same kernel.
struct ReduceGroup {
  std::vector<const Op*> reduces;  // in the order of the region
  Values row_values;               // results of the operands' shape
  Values kept_values;              // what is to be made with one element for each result element of the reduces
  Shape shape;                     // of the operands
  Shape kept_shape;                // of the results
  std::vector<int> kept;           // dimensions of `shape` that stay, in order
  std::vector<int> outer;          // reduced dimensions longer than 1 that are walked one by one, outermost first
  std::vector<int> run_dims;       // the innermost dimensions longer than 1, walked as one: all reduced (rows) or all
                                   // kept (columns)
  bool is_rows = false;

  int64_t run() const;
  int64_t kept_count() const { return element_count(kept_shape); }
  int64_t reduced_count() const;
  Values roots() const;  // the results of the reduces
  bool all_known() const;
};

// A part of the reduced space: of its outermost dimension, which for rows without `outer` is the run.
struct ReducedPart {
  loops::Index lower = 0;
  int64_t each = 0;               // it ends at lower + each, or where the dimension ends; 0: it is the whole
  loops::Expr is_last = nullptr;  // null: always
};

int64_t split_extent(const ReduceGroup& group);

// Whether columns have sums so long that they are cut into blocks, whose sums are summed.
bool has_long_columns(const ReduceGroup& group);

// A walk over one row: body(index of the element in `shape`, its offset in the row, chain, mask).
struct RowWalk {
  bool vectors = true;
  int chains = 1;
  ReducedPart part = {};
  std::function<void()> after_block = {};  // every Accumulator::kBlock elements of a chain, and after every run
};
using RowBody = std::function<void(const std::vector<loops::Index>& index, const loops::Index& offset,
                                   const loops::Index& chain, const loops::Expr& mask)>;
void walk_row(Step& step, const ReduceGroup& group, const std::vector<loops::Index>& kept_index, const RowWalk& walk,
              const RowBody& body);

// How many vectors wide a block of columns is: a few, or more where memory has to bring each step of it. As parts of sums
// follow from it, rows of the target table that sum alike have it in common.
int column_vectors(const Draft& draft, const ReduceGroup& group);

// A walk over blocks of columns, `vectors` vectors wide at most. `block(first, vectors, is_ragged)` stands for columns
// first .. first + vectors * lanes of the run (of which some lie beyond its end when ragged) at kept index `at`.
using ColumnBlock =
    std::function<void(const std::vector<loops::Index>& at, const loops::Index& first, int vectors, bool is_ragged)>;
int64_t column_units(const ReduceGroup& group, int64_t lanes, int vectors);
void walk_columns(Step& step, const ReduceGroup& group, const loops::Index& unit, int vectors,
                  const ColumnBlock& block);

// Takes every element of a part of the reduced space, for one block of columns, into the accumulators: a chain for each
// vector. They are long where has_long_columns says so.
void take_columns(Step& step, const ReduceGroup& group, std::vector<Accumulator>& accumulators,
                  const std::vector<loops::Index>& at, const loops::Index& first, int vectors, bool is_ragged,
                  const ReducedPart& part);

// The index in `kept_shape` of an index in `shape`.
std::vector<loops::Index> kept_of(const ReduceGroup& group, const std::vector<loops::Index>& index);

// Each makes everything of the group in one kernel. lower_rows is false when some value would be read at another row
// than its own; `draft` is then unchanged.
bool lower_rows(Draft& draft, const ReduceGroup& group);
void lower_columns(Draft& draft, const ReduceGroup& group);

// Partial results of `parts` parts of the reduced space, then their combination with everything that is made of it.
void lower_in_parts(Draft& draft, const ReduceGroup& group, int64_t parts);

}  // namespace ingot::schedule
