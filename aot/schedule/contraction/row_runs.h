// Rows of a contraction that its register tile reads without a packed copy of each.
//
// The rows of a convolution overlap: packed one by one, every element of its input is copied as often as windows hold
// it. Here the part of the operand that a block of rows reads is copied once, with the zeros around it, to a box; where
// nothing is missing around it, it is read where it lies. In both the rows follow each other evenly in runs only (the
// pixels of one line of an image), and the depth has several ranges (the lines of a window).
#pragma once

#include <optional>

#include "aot/schedule/contraction/problem.h"

namespace ingot::schedule {

// Places of rows, or of the depth, with so many elements of the operand or of the box from each to the next.
struct EvenRange {
  int64_t count, step;
};

struct RowRuns {
  std::vector<int64_t> strides;  // of the iteration dimensions, in elements of the operand or of the box
  int64_t start = 0;  // the element of the origin: of the iteration space, or of the block that the box serves
  std::vector<EvenRange> rows;  // all of them, or those of a block; outermost first, never empty: the last is a run
  Shape box;                    // one extent for each dimension of the operand; empty: read where it lies
  std::vector<int64_t> below;   // ... and so many of its places lie before that of the block's origin
  int lines = 1;                // runs beside each other that windows in place are multiplied of at once
  bool is_dilated = false;      // ... and the operand's elements lie spread out, with gaps in the windows

  bool in_box() const { return !box.empty(); }
  const EvenRange& run() const { return rows.back(); }
  // How many rows tiles of up to `tile_rows` share out: a run; or several, where it is shorter than a tile or tiles have
  // rows of several.
  int64_t stretch(int64_t tile_rows) const;
  // Elements from the first row of a stretch to this one.
  int64_t offset(int64_t row) const;
};

// How runs walk a block of the depth, outermost first; never empty.
std::vector<EvenRange> depth_ranges(const RowRuns& runs, const Blocked& depth);

// Of windows in place: so many places of a block of the depth are multiplied at once, their columns in registers. All of
// the block where they are few, tiles have rows of several lines, or windows hold gaps; else those of the innermost axis,
// or one.
int64_t places_at_once(const RowRuns& runs, const Blocked& depth);

// Of the places along one dimension of the iteration space, -1: none, those that have an element whatever the place is
// along the others, as far as the operand's dimensions say that move along it or `across`.
PlacesInside places_inside(const loops::Contraction& space, const ContractionSide& side, int along, int across);

// Rows where they lie; nullopt where some of them have no place, or need to be converted or made. Windows of rows that have an element for each column may
// reach past the operand's ends, by a little in the line that a run walks; so many `lines` of theirs are multiplied at once.
std::optional<RowRuns> runs_in_place(const ContractionProblem& problem, const Orientation& way, const Blocked& depth,
                                     int lines);

// `rows`: in blocks, each with a box of its own. Nullopt where windows are dilated, the last block is shorter, or
// what vectors run along has places between its neighbours in the box: a window's, of which the operand has but one.
std::optional<RowRuns> runs_in_box(const ContractionProblem& problem, const Orientation& way, const Blocked& rows,
                                   const Blocked& depth, const Blocked& columns);

// The rows in blocks of at most `limit`, all of one size.
Blocked cut_rows(const ContractionProblem& problem, const Orientation& way, int64_t limit);

}  // namespace ingot::schedule
