// What is written on every path that leads to a step, for the proof that nothing is read before that.
#pragma once

#include "engine/src/extent.h"

namespace ingot::engine {

// A place's bytes that are written, and what merge() keeps about it.
struct WrittenPlace {
  Extent bytes;
  uint32_t latest;  // 1 + its change in the case's last branch; 0: none
};

// One growth of a place's bytes.
struct WrittenChange {
  Extent bytes;  // the place's before it; once set aside, after it
  uint32_t place;
  uint32_t branch;  // once set aside: of its case
};

// Grows as steps write. A part of the plan that may not run, or one of several branches, is undone at its end; what
// all branches have written is done again behind them. All of it takes time in proportion to the writes in the part.
class Written {
 public:
  // places: zeroed. log: for as many changes as the plan has operands, or null if it has no jumps.
  Written(WrittenPlace* places, WrittenChange* log) : places_(places), log_(log) {}

  bool covers(uint32_t place, const Extent& bytes) const { return places_[place].bytes.contains(bytes); }
  // One range is kept for each place: bytes that do not touch those before are not counted.
  void add(uint32_t place, const Extent& bytes);

  // Now, as a time to go back to.
  uint32_t mark() const { return change_count_; }

  // Undoes the changes since `mark`.
  void forget(uint32_t mark);

  // Undoes them too, but remembers them as a branch's: the branches of a case count from 0.
  void set_aside(uint32_t mark, uint32_t branch);

  // Does again what all branches did, 0 .. last_branch (at least 1), that were set aside since `mark`.
  void merge(uint32_t mark, uint32_t last_branch);

 private:
  WrittenPlace* places_;
  WrittenChange* log_;
  uint32_t change_count_ = 0;
};

}  // namespace ingot::engine
