#include "aot/schedule/contraction/packing.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;

namespace {

class BoxFilling {
 public:
  BoxFilling(ContractionPoint& point, const Panels& panels)
      : point_(point),
        b_(point.b()),
        side_(point.plan().rows_side),
        shape_(side_.value->type.shape),
        runs_(*point.plan().runs),
        panels_(panels),
        is_kept_(point.step().draft().kept(side_.value)),
        may_end_early_(point.plan().has_own_rows && point.plan().columns.is_ragged()),
        line_(is_kept_ ? first_of_line() : runs_.box.size() - 1) {}

  // The box of the point.
  void fill() {
    for (size_t j = 0; j < runs_.box.size(); ++j) low_.push_back(point_.place(side_.accesses[j]) - runs_.below[j]);
    fill_from(0, {}, 0, nullptr);
  }

 private:
  using Indices = std::vector<Index>;

  // The first of the innermost dimensions that are one line, in the box and where the operand lies.
  size_t first_of_line() const {
    size_t j = runs_.box.size() - 1;
    while (j > 0 && runs_.box[j] == shape_[j] && side_.accesses[j].always) --j;
    return j;
  }

  int64_t elements_after(const Shape& shape, size_t dim) const {
    return element_count(Shape(shape.begin() + static_cast<std::ptrdiff_t>(dim) + 1, shape.end()));
  }

  // Dimensions from `j` on, where those before it are at `index`; `mask`: whether the operand has that.
  void fill_from(size_t j, Indices index, const Index& to, const Expr& mask) {
    if (j == line_) {
      index.push_back(low_[j]);
      if (!mask) return fill_line(index, to, true);
      return b_.if_then(mask, [&] { fill_line(index, to, true); }, [&] { fill_line(index, to, false); });
    }
    b_.loop("b", 0, runs_.box[j], 1, [&](Index i) {
      Indices next = index;
      next.push_back(low_[j] + i);
      const bool is_inside = side_.accesses[j].always && !may_end_early_;
      const Expr exists = is_inside ? nullptr : b_.in_range(next[j], 0, shape_[j]);
      fill_from(j + 1, next, to + i * elements_after(runs_.box, j), b_.both(mask, exists));
    });
  }

  // A line of the box, from `to` on: what the operand has from `index` on; zeros where nothing of it exists.
  void fill_line(const Indices& index, const Index& to, bool exists) {
    const int64_t inner = elements_after(shape_, line_), lanes = point_.plan().vector_lanes();
    const int64_t count = runs_.box[line_] * inner, extent = shape_[line_] * inner;
    const auto vector_at = [&](const Index& i, bool is_edge) {
      Pull::Scope scope(point_.step().pull());
      const Index lane = i + b_.lane();
      if (!exists) return b_.store(panels_.rows(), to + lane, b_.constant_int(point_.dtype(), 0));
      Indices at = index;
      const Index first = index[line_] * inner + i;
      at[line_] = first + b_.lane();
      const auto copy = [&](const Expr& mask) { b_.store(panels_.rows(), to + lane, element(at, mask)); };
      const bool may_miss = is_edge || may_end_early_ || !side_.accesses[line_].always;
      const Expr mask = may_miss ? b_.in_range(at[line_], 0, extent) : nullptr;
      if (!mask || !is_kept_) return copy(mask);
      // Few vectors have an end of the line within them, and masks take time.
      b_.if_then(b_.in_range(first, 0, extent - lanes + 1), [&] { copy(nullptr); }, [&] { copy(mask); });
    };
    b_.loop("b", 0, count / lanes * lanes, lanes, [&](Index i) { vector_at(i, false); });
    if (count % lanes != 0) vector_at(count / lanes * lanes, true);
  }

  // `index`: the last counts elements of the line.
  Expr element(const Indices& index, const Expr& mask) {
    if (!is_kept_) return point_.element_at(side_, index, mask);
    const Shape strides = row_major_strides(shape_);
    Index flat = index.back();
    for (size_t j = 0; j + 1 < index.size(); ++j) flat = flat + index[j] * strides[j];
    return b_.convert(point_.dtype(), b_.load(point_.buffer_of(side_), flat, mask));
  }

  ContractionPoint& point_;
  loops::KernelBuilder& b_;
  const ContractionSide& side_;
  const Shape& shape_;
  const RowRuns& runs_;
  const Panels& panels_;
  bool is_kept_;        // in a buffer, and not made by an op on the way
  bool may_end_early_;  // boxes run along columns, of which the last block has fewer
  size_t line_;
  Indices low_;  // where the box begins in the operand
};

}  // namespace

void fill_box(ContractionPoint& point, const Panels& panels, const Index& first, const BlockAt& depth,
              const BlockAt& columns) {
  const ContractionPlan& plan = point.plan();
  point.enter_row(first);
  if (plan.has_own_rows) point.set_axis(plan.columns.axes.back(), columns.start);
  for (size_t k = plan.depth.cut; k < plan.depth.axes.size(); ++k) {
    point.set_axis(plan.depth.axes[k], static_cast<int>(k) == plan.depth.cut ? depth.start : Index(0));
  }
  BoxFilling(point, panels).fill();
}

}  // namespace ingot::schedule
