// scatter: the updates go into the operands one after the other, in ascending order, where the operands lie. What is in
// no buffer, or read elsewhere too, is written to one of its own first. Tasks take slices of the innermost dimension
// where no index vector points into it; such slices never meet.
#include <algorithm>

#include "aot/base/contains.h"
#include "aot/ops/support/clamped_start.h"
#include "aot/ops/support/dimension_numbers.h"
#include "aot/schedule/rows_ahead.h"
#include "aot/schedule/step.h"
#include "aot/schedule/sweep.h"
#include "aot/schedule/templates.h"

namespace ingot::schedule {
namespace {

using loops::Expr;
using loops::Index;
using loops::ScalarOp;

class Scatter {
 public:
  Scatter(Draft& draft, const Op& root)
      : root_(root),
        count_(root.operands.size() / 2),
        dims_(ops::read_scatter_dims(root.attrs())),
        shape_(root.operand(0)->type.shape),
        updates_shape_(root.operand(static_cast<int>(count_) + 1)->type.shape),
        slice_(find_slice()),
        is_in_place_(find_in_place(draft)),
        step_(after_copying(draft), slice_ >= 0 ? lanes_for(draft, moved()) : 1) {
    step_.read(moved());
    if (is_in_place_) step_.read(operands());
    for (size_t k = 0; k < count_; ++k) step_.update(result(k), is_in_place_ ? step_.input(operand(k)) : -1);
  }

  void build() {
    loops::KernelBuilder& b = step_.b();
    if (element_count(shape_) == 0 || element_count(updates_shape_) == 0) {
      b.set_task_count(0);
    } else if (slice_ < 0) {
      update(0, 1);
    } else {
      const double ns = work_ns(step_.draft(), moved());
      const TaskPart part = part_of_task(b, shape_.back(), wanted_tasks(step_.draft(), ns), b.vector_lanes());
      update(part.first, part.each);
    }
    step_.finish();
  }

 private:
  Value* operand(size_t k) const { return root_.operand(static_cast<int>(k)); }
  Value* result(size_t k) const { return root_.result(static_cast<int>(k)); }
  Values operands() const { return {root_.operands.begin(), root_.operands.begin() + static_cast<int64_t>(count_)}; }
  // Indices and updates.
  Values moved() const { return {root_.operands.begin() + static_cast<int64_t>(count_), root_.operands.end()}; }

  // Whether operands lie in buffers that nothing else of the kernel reads, each to be one result.
  bool find_in_place(const Draft& draft) const {
    for (size_t k = 0; k < count_; ++k) {
      if (!draft.is_made(operand(k)) || operand(k)->uses.size() > 1 || draft.results_of(result(k)).size() > 1)
        return false;
    }
    return true;
  }

  // Unless operands are updated where they lie, a step of its own writes them to where the results are to be.
  Draft& after_copying(Draft& draft) const {
    if (is_in_place_) return draft;
    Values results;
    for (size_t k = 0; k < count_; ++k) results.push_back(result(k));
    Step step(draft, lanes_for(draft, operands()));
    step.read(operands());
    step.write(results, read_in_place(draft, operands()));
    sweep(step, sweep_space(draft, operands()), wanted_tasks(draft, work_ns(draft, operands())),
          [&](const std::vector<Index>& index, const Expr& mask) {
            std::vector<Expr> elements;
            for (const Value* value : operands())
              elements.push_back(step.b().let("old", step.pull().element(value, index, mask)));
            for (size_t k = 0; k < count_; ++k) step.store(results[k], index, elements[k], mask);
          });
    step.finish();
    return draft;
  }

  // The dimension of the updates that runs along the operand's last one, when index vectors leave that alone; else -1.
  int find_slice() const {
    const int last = static_cast<int>(shape_.size()) - 1;
    const std::vector<int64_t> kept = dims_.kept_dims(last + 1);
    if (kept.empty() || kept.back() != last || contains(dims_.index_map, last)) return -1;
    return shape_.back() > 1 ? static_cast<int>(dims_.window_dims.back()) : -1;
  }

  // body(i, mask) for the elements first .. first + each of the slice dimension, which has `extent`.
  void walk_slice(const Index& first, int64_t each, int64_t extent,
                  const std::function<void(const Index&, const Expr&)>& body) {
    if (slice_ < 0) return body(0, nullptr);
    walk_run(step_.b(), first, each, extent, body);
  }

  void walk(const Shape& shape, int without, std::vector<Index>& at, const std::function<void()>& body, size_t d = 0) {
    if (d == shape.size()) return body();
    if (static_cast<int>(d) == without) return walk(shape, without, at, body, d + 1);
    step_.b().loop("d", 0, shape[d], 1, [&](Index i) {
      at[d] = i;
      walk(shape, without, at, body, d + 1);
    });
  }

  // What the index vector of an update's element gives for the c-th of the dimensions that it points into.
  Expr start_at(const std::vector<Index>& at, size_t c) {
    const Value* indices = root_.operand(static_cast<int>(count_));
    const auto where = dims_.indices_at(at, indices->type.rank(), static_cast<int64_t>(c));
    return step_.pull().element(indices, where, nullptr);
  }

  // For the row that is updated some rows later.
  void ask_ahead(std::vector<Index> at, const Index& first, int64_t each) {
    loops::KernelBuilder& b = step_.b();
    int last = static_cast<int>(at.size()) - 1;
    while (last >= 0 && (last == slice_ || updates_shape_[last] == 1)) --last;
    if (slice_ < 0 || b.vector_lanes() == 1 || last < 0 || !is_far(step_.draft(), operand(0)->type)) return;
    Pull::Scope scope(step_.pull());
    at[last] = row_ahead(b, at[last], updates_shape_[last]);
    std::vector<Index> to = dims_.operand_at(at, static_cast<int>(shape_.size()));
    for (size_t c = 0; c < dims_.index_map.size(); ++c) {
      const int64_t dim = dims_.index_map[c];
      if (!to[dim].is_constant()) return;
      to[dim] = to[dim] + ops::clamped_start(b, start_at(at, c), shape_[dim] - 1);
    }
    to.back() = first;
    for (size_t k = 0; k < count_; ++k) {
      const int64_t bytes = each * info(operand(k)->type.dtype).bytes;
      prefetch_row(b, step_.output(result(k)), loops::flatten(to, shape_), bytes);
    }
  }

  void update(const Index& first, int64_t each) {
    loops::KernelBuilder& b = step_.b();
    std::vector<Index> at(updates_shape_.size(), Index(0));
    walk(updates_shape_, slice_, at, [&] {
      Pull::Scope scope(step_.pull());
      ask_ahead(at, first, each);
      std::vector<Index> to = dims_.operand_at(at, static_cast<int>(shape_.size()));
      Expr inside = nullptr;
      for (size_t c = 0; c < dims_.index_map.size(); ++c) {
        const int64_t dim = dims_.index_map[c];
        // Any start beyond the operand is as good as one at its end: both are outside.
        const int64_t extent = shape_[dim];
        Expr start = b.convert(DType::kI64, start_at(at, c));
        start = b.apply(ScalarOp::kMaximum, {start, b.constant_int(DType::kI64, -extent)});
        start = b.apply(ScalarOp::kMinimum, {start, b.constant_int(DType::kI64, extent)});
        to[dim] = to[dim] + b.let_index("start", start, -extent, extent);
        inside = b.both(inside, b.in_range(to[dim], 0, extent));
      }
      b.if_then(inside, [&] {
        walk_slice(first, each, slice_ < 0 ? 1 : updates_shape_[slice_], [&](const Index& i, const Expr& mask) {
          Pull::Scope inner(step_.pull());
          if (slice_ >= 0) at[slice_] = to.back() = i;
          combine(to, at, mask);
        });
      });
    });
  }

  void combine(const std::vector<Index>& to, const std::vector<Index>& at, const Expr& mask) {
    loops::KernelBuilder& b = step_.b();
    std::vector<Expr> arguments, next;
    for (size_t k = 0; k < count_; ++k) {
      arguments.push_back(b.let("old", b.load(step_.output(result(k)), loops::flatten(to, shape_), mask)));
    }
    for (size_t k = 0; k < count_; ++k) {
      arguments.push_back(
          b.let("update", step_.pull().element(root_.operand(static_cast<int>(count_ + 1 + k)), at, mask)));
    }
    for (const Expr& value : run_region(b, root_.region(), arguments)) next.push_back(b.let("new", value));
    for (size_t k = 0; k < count_; ++k) step_.store(result(k), to, next[k], mask);
  }

  const Op& root_;
  size_t count_;
  ops::IndexedDims dims_;
  Shape shape_, updates_shape_;
  int slice_;
  bool is_in_place_;
  Step step_;
};

}  // namespace

void lower_scatter(Draft& draft, const Op& root) { Scatter(draft, root).build(); }

}  // namespace ingot::schedule
