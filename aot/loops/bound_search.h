// Proofs that an affine index is at least zero, from facts: other indices that are.
//
// What is wanted follows when it is a sum of multiples of facts and of what the variables' ranges say; over the
// rational numbers that is all that follows (Farkas). Integers need more, and get it where that is not enough: facts about
// quotients are rounded (Gomory's cuts), values get the ranges that facts leave of them, and each value of a variable
// with few is a case of its own.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>

#include "aot/loops/loop.h"

namespace ingot::loops {

class BoundSearch {
 public:
  // `vars`: by their ids, with what is known of their values. `steps_left`: of the search, counted down; at 0 it gives up.
  BoundSearch(std::span<const Var> vars, std::span<const Index> facts, int64_t& steps_left)
      : vars_(vars), facts_(facts), steps_left_(steps_left) {}

  // False: no proof was found.
  bool proves(const Index& index) const;

 private:
  struct Range {
    int64_t low, high;
  };
  struct Rest {
    Index index;
    int64_t scale;  // what is looked for is at least index / scale
  };

  bool proves_by_sum(const Index& index) const;
  bool proves_by_cases(const Index& index, int& cases_left) const;
  int64_t least(const Index& index, size_t max_sums, int64_t enough = std::numeric_limits<int64_t>::max()) const;
  std::optional<Rest> without(const Rest& from, const Index& fact, VarId var) const;
  std::vector<Index> with_cuts() const;
  Index cut(const Index& fact, int64_t divisor) const;
  bool narrow_ranges();
  std::optional<VarId> var_of_few_values() const;
  Range range(VarId var) const;
  int64_t low(const Index& index) const;

  std::span<const Var> vars_;
  std::span<const Index> facts_;
  int64_t& steps_left_;
  std::map<VarId, Range> ranges_;  // narrower than the variables say
};

// The greatest number that divides all terms, whatever the variables' values; 0 without terms.
int64_t common_divisor(std::span<const Var> vars, const Index& index);

// The same where it is at least zero, and less elsewhere: its terms come in steps.
Index tightened(std::span<const Var> vars, Index index);

}  // namespace ingot::loops
