// triangular_solve: each unknown from those before it. Systems share the matrix and are independent: vectors and tasks
// take some of them each. What a task has solved so far stays in scratch, system by system in the lanes.
#include "aot/ops/support/matrices/triangular_solve.h"

#include <algorithm>

#include "aot/base/divide.h"
#include "aot/loops/algebra.h"
#include "aot/schedule/step.h"
#include "aot/schedule/templates.h"

namespace ingot::schedule {
namespace {

using loops::BufferId;
using loops::Expr;
using loops::Index;
using loops::Scalar;
using loops::TileId;

class TriangularSolve {
 public:
  TriangularSolve(Draft& draft, const Op& root)
      : root_(root),
        solve_(ops::read_triangular_solve(root.attrs())),
        a_(root.operand(0)),
        right_(root.operand(1)),
        size_(a_->type.shape.back()),
        systems_(right_->type.shape[right_->type.rank() - (solve_.left_side ? 1 : 2)]),
        batch_shape_(a_->type.shape.begin(), a_->type.shape.end() - 2),
        register_dtype_(loops::register_dtype(a_->type.dtype)),
        step_(draft, systems_ == 1 ? 1 : draft.target().vector_bytes / info(register_dtype_).bytes) {
    std::set<const Value*> in_place = read_in_place(draft, {right_});
    for (const Value* value : draft.inputs_of({a_})) in_place.erase(value);
    step_.read(root.operands);
    step_.write({root.result()}, in_place);
  }

  void build() {
    loops::KernelBuilder& b = step_.b();
    if (right_->type.elements() == 0) {
      b.set_task_count(0);
    } else {
      const int64_t lanes = b.vector_lanes();
      vectors_ = std::clamp<int64_t>(machine().chains() / 2, 1, divide_up(systems_, lanes));
      const int64_t groups = divide_up(systems_, vectors_ * lanes);
      const int64_t units = element_count(batch_shape_) * groups;
      solved_ = b.scratch("solved", register_dtype_, size_ * vectors_ * lanes);
      sums_ = b.tile("sum", register_dtype_, static_cast<int>(lanes), {vectors_});
      for_each_unit(b, "unit", units, wanted_tasks(step_.draft(), work_ns()), [&](const Index& unit) {
        const std::vector<Index> batch = loops::unflatten(b, b.divide(unit, groups), batch_shape_);
        solve(batch, b.modulo(unit, groups));
      });
    }
    step_.finish();
  }

 private:
  const loops::Machine& machine() const { return step_.draft().target().machine; }

  double work_ns() const {
    constexpr double kFlopsPerProduct = 2;
    return machine().flop_ns * kFlopsPerProduct * static_cast<double>(right_->type.elements() * size_) / 2;
  }

  // The unknown that is solved in step `i`.
  Index number(const Index& i) const { return solve_.is_forward() ? i : Index(size_ - 1) - i; }

  Expr coefficient(const std::vector<Index>& batch, Index row, Index column) {
    if (solve_.is_flipped()) std::swap(row, column);
    std::vector<Index> at = batch;
    at.push_back(row);
    at.push_back(column);
    return step_.pull().element(a_, at, nullptr);
  }

  std::vector<Index> place(const std::vector<Index>& batch, const Index& unknown, const Index& system) const {
    std::vector<Index> at = batch;
    at.push_back(solve_.left_side ? unknown : system);
    at.push_back(solve_.left_side ? system : unknown);
    return at;
  }

  // One group of systems.
  void solve(const std::vector<Index>& batch, const Index& group) {
    loops::KernelBuilder& b = step_.b();
    const int64_t lanes = b.vector_lanes(), width = vectors_ * lanes;
    const auto system = [&](const Index& v) { return group * width + v * lanes + b.lane(); };
    const auto exists = [&](const Index& v) { return b.in_range(system(v), 0, systems_); };
    const auto solved = [&](const Index& i, const Index& v) { return i * width + v * lanes + b.lane(); };
    b.loop("i", 0, size_, 1, [&](const Index& i) {
      const Index row = number(i);
      b.unrolled("v", vectors_, [&](const Index& v) {
        Pull::Scope scope(step_.pull());
        b.set(sums_, {v}, step_.pull().element(right_, place(batch, row, system(v)), exists(v)));
      });
      b.loop("s", 0, i, 1, [&](const Index& s) {
        Pull::Scope scope(step_.pull());
        const Scalar factor(b, b.let("factor", coefficient(batch, row, number(s))));
        const Expr negative = b.let("negative", -factor);
        b.unrolled("v", vectors_, [&](const Index& v) {
          b.set(sums_, {v},
                b.apply(loops::ScalarOp::kFma, {b.load(solved_, solved(s, v)), negative, b.read(sums_, {v})}));
        });
      });
      Pull::Scope scope(step_.pull());
      const Expr pivot = solve_.unit_diagonal ? nullptr : b.let("pivot", coefficient(batch, row, row));
      b.unrolled("v", vectors_, [&](const Index& v) {
        Expr x = b.read(sums_, {v});
        if (pivot) x = b.apply(loops::ScalarOp::kDivide, {x, pivot});
        x = b.let("x", x);
        b.store(solved_, solved(i, v), x);
        step_.store(root_.result(), place(batch, row, system(v)), x, exists(v));
      });
    });
  }

  const Op& root_;
  ops::TriangularSolve solve_;
  Value* a_;
  Value* right_;
  int64_t size_, systems_;
  Shape batch_shape_;
  DType register_dtype_;
  Step step_;
  int64_t vectors_ = 1;  // of systems, in a group
  BufferId solved_ = -1;
  TileId sums_ = -1;
};

}  // namespace

void lower_triangular_solve(Draft& draft, const Op& root) { TriangularSolve(draft, root).build(); }

}  // namespace ingot::schedule
