// The box of ContractionKernel: what a block of rows reads of its operand (row_runs.h).
#include "aot/schedule/contraction/contraction_kernel.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;

namespace {

// The first of the innermost dimensions of a box that are one line, in it and where the operand lies.
size_t first_of_line(const ContractionSide& side, const Shape& box) {
  size_t j = box.size() - 1;
  const auto is_whole = [&](size_t d) { return box[d] == side.value->type.shape[d] && side.accesses[d].always; };
  while (j > 0 && is_whole(j)) --j;
  return j;
}

}  // namespace

void ContractionKernel::fill_box(const Index& first, const BlockAt& depth, const BlockAt& columns) {
  enter_row(first);
  if (plan_.has_own_rows) set_axis(plan_.columns.axes.back(), columns.start);
  for (size_t k = plan_.depth.cut; k < plan_.depth.axes.size(); ++k) {
    set_axis(plan_.depth.axes[k], static_cast<int>(k) == plan_.depth.cut ? depth.start : Index(0));
  }
  const ContractionSide& side = plan_.rows_side;
  const RowRuns& runs = *plan_.runs;
  const Shape strides = row_major_strides(runs.box);
  const size_t last = step_.draft().is_made(side.value) ? first_of_line(side, runs.box) : runs.box.size() - 1;
  std::vector<Index> low;  // where the box begins in the operand
  for (size_t j = 0; j < runs.box.size(); ++j) low.push_back(place(side.accesses[j]) - runs.below[j]);
  const auto enter = [&](const auto& self, size_t j, Indices index, const Index& to, const Expr& mask) -> void {
    if (j == last) {
      index.push_back(low[j]);
      const auto zeros = [&] { fill_line(index, to, false); };
      return mask ? b_.if_then(mask, [&] { fill_line(index, to, true); }, zeros) : fill_line(index, to, true);
    }
    b_.loop("b", 0, runs.box[j], 1, [&](Index i) {
      Indices next = index;
      next.push_back(low[j] + i);
      const Expr exists = side.accesses[j].always ? nullptr : b_.in_range(next[j], 0, side.value->type.shape[j]);
      self(self, j + 1, next, to + i * strides[j], b_.both(mask, exists));
    });
  };
  enter(enter, 0, {}, 0, nullptr);
}

void ContractionKernel::fill_line(const Indices& index, const Index& to, bool exists) {
  const ContractionSide& side = plan_.rows_side;
  const Shape& shape = side.value->type.shape;
  const size_t last = index.size() - 1;
  int64_t inner = 1;
  for (size_t j = last + 1; j < shape.size(); ++j) inner *= shape[j];
  const int64_t count = plan_.runs->box[last] * inner, lanes = plan_.lanes;
  const auto vector_at = [&](const Index& i, bool is_edge) {
    Pull::Scope scope(step_.pull());
    if (!exists) return b_.store(packed_rows_, to + i + b_.lane(), b_.constant_int(held_, 0));
    Indices at = index;
    at[last] = index[last] * inner + i + b_.lane();
    const bool may_miss = is_edge || !side.accesses[last].always;
    const Expr mask = may_miss ? b_.in_range(at[last], 0, shape[last] * inner) : nullptr;
    b_.store(packed_rows_, to + i + b_.lane(), line_element(at, mask));
  };
  b_.loop("b", 0, count / lanes * lanes, lanes, [&](Index i) { vector_at(i, false); });
  if (count % lanes != 0) vector_at(count / lanes * lanes, true);
}

Expr ContractionKernel::line_element(const Indices& index, const Expr& mask) {
  const ContractionSide& side = plan_.rows_side;
  if (!step_.draft().is_made(side.value)) return element_of(side, index, mask);
  const Shape strides = row_major_strides(side.value->type.shape);
  Index flat = index.back();
  for (size_t j = 0; j + 1 < index.size(); ++j) flat = flat + index[j] * strides[j];
  return b_.convert(held_, b_.load(step_.input(side.value), flat, mask));
}

}  // namespace ingot::schedule
