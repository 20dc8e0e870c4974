// What is known of indices where a statement stands, and what follows from it: by this `verify` proves that accesses
// stay within their buffers.
//
// A fact is an affine index that is at least zero. `for i in 8*task .. min(100, 8*task + 8)` gives the facts
// i - 8*task, 99 - i and 8*task + 7 - i; the mask `i + lane < 100` gives 99 - i - lane. (bound_search.h: what follows.)
#pragma once

#include <map>
#include <vector>

#include "aot/loops/interval.h"
#include "aot/loops/loop.h"

namespace ingot::loops {

class Facts {
 public:
  explicit Facts(const Kernel& kernel) : kernel_(kernel), vars_(kernel.vars) {}

  // What is assumed while a scope lives holds until its end.
  class Scope {
   public:
    explicit Scope(Facts& facts) : facts_(facts), count_(facts.facts_.size()) {}
    ~Scope() { facts_.facts_.resize(count_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Facts& facts_;
    size_t count_;
  };

  void assume_bounds(const Stmt& loop);             // inside a kFor
  void assume(const Expr& condition, bool holds);   // i1, in the lanes looked at; what it does not understand it skips
  void assume_value(VarId var, const Expr& value);  // of a kLet

  // Whether `index` is at least zero wherever the facts hold. False: perhaps not.
  bool imply(const Index& index);

  // Whether an integer value lies within an interval wherever the facts hold. False: perhaps not.
  bool imply_within(const Expr& value, const Interval& interval);

  // Whether proofs of this kernel took so long that what needs a search is not looked for any more.
  bool are_exhausted() const { return steps_left_ == 0; }

 private:
  void assume(const Index& at_least_zero);
  int64_t divisor_of(const Index& index) const;

  const Kernel& kernel_;
  std::vector<Var> vars_;  // the kernel's, with the multiples that their values tell
  std::vector<Index> facts_;
  std::map<VarId, Expr> conditions_;  // i1 variables
  int64_t steps_left_ = 1'000'000;    // of all searches: a fraction of a second
};

}  // namespace ingot::loops
