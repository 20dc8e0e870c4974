// Where the loops of a contraction's kernel stand: a point of its iteration space, and what its operands have there.
#pragma once

#include <functional>

#include "aot/schedule/contraction/contraction_plan.h"

namespace ingot::schedule {

// A place within one block: of columns or of depth.
struct BlockAt {
  loops::Index start;     // of the cut axis
  loops::Index position;  // of the block's first element, of all
};

class ContractionPoint {
 public:
  using Indices = std::vector<loops::Index>;

  ContractionPoint(Step& step, const ContractionPlan& plan);

  Step& step() const { return step_; }
  loops::KernelBuilder& b() const { return step_.b(); }
  const ContractionPlan& plan() const { return plan_; }
  // Register dtypes: of what is multiplied and packed, and of sums.
  DType dtype() const { return dtype_; }
  DType sum_dtype() const { return sum_dtype_; }
  const loops::Index& operator[](int dim) const { return at_[dim]; }
  // Which column of a vector along the columns.
  loops::Index column_lane() const { return plan_.lanes > 1 ? b().lane() : loops::Index(0); }

  void set(int dim, const loops::Index& i) { at_[dim] = i; }
  void set_axis(const Axis& axis, const loops::Index& i);
  BlockAt enter_block(const Blocked& blocked, const loops::Index& block);
  void enter_row(const loops::Index& row);
  Indices result_index() const;

  // Where an operand lies that is kept in a buffer (Draft::kept).
  loops::BufferId buffer_of(const ContractionSide& side) const { return step_.input(step_.draft().kept(side.value)); }
  // An operand's place along one of its dimensions, in units of 1 / divisor.
  loops::Index place(const AxisMap& access) const;
  // Its element's index, where it has one here, and that element's place among all of them.
  Indices index_of(const ContractionSide& side) const;
  loops::Index flat(const ContractionSide& side) const;
  // Whether it has an element here as far as these of its dimensions say; null when always.
  loops::Expr exists(const ContractionSide& side, const std::function<bool(const AxisMap& access)>& counts);
  // Whether the operand has elements here, as far as walking `along` does not change it; null when always.
  loops::Expr invariant_mask(const ContractionSide& side, const Axis& along);
  // One element (or vector of them) of an operand, in dtype(); 0 where there is none. `along`: the axis that is being
  // walked in vectors; what does not depend on it is known to exist.
  loops::Expr element(const ContractionSide& side, const loops::Expr& mask, const Axis* along = nullptr);
  // The same at an index of the operand's own.
  loops::Expr element_at(const ContractionSide& side, const Indices& index, const loops::Expr& mask);

  // sum + row column, as the contraction multiplies.
  loops::Expr multiply_add(const loops::Expr& row, const loops::Expr& column, const loops::Expr& sum) const;

  // Fetches what packing reads here a few places of `depth` later, where these are lines apart in a buffer: pieces of
  // lines in one page after the other are nothing that processors foresee.
  void prefetch_ahead(const ContractionSide& side, const Axis& depth);

 private:
  loops::Expr in_bounds(const AxisMap& access, int64_t extent);

  Step& step_;
  const ContractionPlan& plan_;
  DType dtype_, sum_dtype_;
  Indices at_;
};

}  // namespace ingot::schedule
