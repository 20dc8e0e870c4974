#include "aot/schedule/contraction/contraction_point.h"

#include <algorithm>
#include <cstdlib>

#include "aot/graph/op.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;
using loops::ScalarOp;

namespace {

constexpr int64_t kPlacesAhead = 8;  // of the depth, by which packing prefetches

bool depends_on(const AxisMap& access, const Axis& axis) {
  return std::ranges::any_of(axis.dims, [&](int d) { return access.coefficients[d] != 0; });
}

}  // namespace

ContractionPoint::ContractionPoint(Step& step, const ContractionPlan& plan)
    : step_(step),
      plan_(plan),
      dtype_(loops::register_dtype(plan.space.factor())),
      sum_dtype_(loops::register_dtype(plan.space.accumulate)),
      at_(plan.space.dims.size(), Index(0)) {}

void ContractionPoint::set_axis(const Axis& axis, const Index& i) {
  for (const int d : axis.dims) at_[d] = 0;
  if (!axis.dims.empty()) at_[axis.dims.back()] = i;
}

BlockAt ContractionPoint::enter_block(const Blocked& blocked, const Index& block) {
  const std::vector<Index> at = loops::unflatten(b(), block, blocked.block_shape());
  Index outer = 0;
  for (int k = 0; k < blocked.cut; ++k) {
    set_axis(blocked.axes[k], at[k]);
    outer = outer * blocked.axes[k].extent + at[k];
  }
  const Index start = at.back() * blocked.chunk;
  return {start, (outer * blocked.extent() + start) * blocked.inner()};
}

void ContractionPoint::enter_row(const Index& row) {
  const std::vector<Index> at = loops::unflatten(b(), row, plan_.extents(plan_.rows));
  for (size_t k = 0; k < at.size(); ++k) at_[plan_.rows[k]] = at[k];
}

ContractionPoint::Indices ContractionPoint::result_index() const {
  Indices index;
  for (const AxisMap& access : plan_.space.out) index.push_back(place(access));
  return index;
}

Index ContractionPoint::place(const AxisMap& access) const {
  Index at = access.constant;
  for (size_t d = 0; d < at_.size(); ++d) at = at + at_[d] * access.coefficients[d];
  return at;
}

Index ContractionPoint::flat(const ContractionSide& side) const {
  if (side.is_dilated()) return loops::flatten(index_of(side), side.value->type.shape);
  Index at = side.constant();
  for (size_t d = 0; d < at_.size(); ++d) at = at + at_[d] * side.stride(static_cast<int>(d));
  return at;
}

ContractionPoint::Indices ContractionPoint::index_of(const ContractionSide& side) const {
  Indices index;
  for (const AxisMap& access : side.accesses) index.push_back(b().divide(place(access), access.divisor));
  return index;
}

Expr ContractionPoint::exists(const ContractionSide& side, const std::function<bool(const AxisMap&)>& counts) {
  Expr mask = nullptr;
  for (size_t j = 0; j < side.accesses.size(); ++j) {
    if (counts(side.accesses[j])) mask = b().both(mask, in_bounds(side.accesses[j], side.value->type.shape[j]));
  }
  return mask;
}

Expr ContractionPoint::in_bounds(const AxisMap& access, int64_t extent) {
  if (access.always) return nullptr;
  Index at = place(access);
  Expr mask = nullptr;
  if (access.divisor > 1) {
    const Index rest = b().modulo(at, access.divisor);
    if (rest.terms.empty() && rest.constant != 0) return b().constant_int(DType::kI1, 0);
    if (!rest.terms.empty())
      mask = b().apply(ScalarOp::kEqual, {b().index_value(rest), b().constant_int(DType::kI64, 0)});
    at = b().divide(at, access.divisor);
  }
  return b().both(mask, b().in_range(at, 0, extent));
}

Expr ContractionPoint::invariant_mask(const ContractionSide& side, const Axis& along) {
  return exists(side, [&](const AxisMap& access) { return !depends_on(access, along); });
}

Expr ContractionPoint::element(const ContractionSide& side, const Expr& outer_mask, const Axis* along) {
  Expr mask = outer_mask;
  for (size_t j = 0; j < side.accesses.size(); ++j) {
    const AxisMap& access = side.accesses[j];
    if (!along || depends_on(access, *along)) mask = b().both(mask, in_bounds(access, side.value->type.shape[j]));
  }
  return element_at(side, index_of(side), mask);
}

Expr ContractionPoint::element_at(const ContractionSide& side, const Indices& index, const Expr& mask) {
  const Expr element = b().convert(dtype_, step_.pull().element(side.value, index, mask));
  // What is pulled through ops is unspecified where the mask does not hold, and so is a scalar that is read without it.
  const bool is_zero_outside = element->kind == loops::ExprKind::kLoad && !element->args.empty();
  return mask && !is_zero_outside ? b().apply(ScalarOp::kSelect, {mask, element, b().constant_int(dtype_, 0)})
                                  : element;
}

Expr ContractionPoint::multiply_add(const Expr& row, const Expr& column, const Expr& sum) const {
  if (plan_.space.multiplies_pairs) {
    const bool is_to_odd = step_.draft().target().pair_products == loops::PairProducts::kToOdd;
    return b().apply(is_to_odd ? ScalarOp::kDotPairsToOdd : ScalarOp::kDotPairs, {row, column, sum});
  }
  if (is_float(dtype_)) return b().apply(ScalarOp::kFma, {row, column, sum});
  if (!plan_.space.multiplies_bytes())
    return b().apply(ScalarOp::kAdd, {sum, b().apply(ScalarOp::kMultiply, {row, column})});
  const bool are_rows_unsigned = plan_.space.unsigned_bytes != plan_.columns_operand;
  return b().apply(ScalarOp::kDotBytes, {are_rows_unsigned ? row : column, are_rows_unsigned ? column : row, sum});
}

void ContractionPoint::prefetch_ahead(const ContractionSide& side, const Axis& depth) {
  if (depth.dims.empty() || !step_.draft().kept(side.value) || side.is_dilated()) return;
  const int64_t step = side.stride(depth.dims.back());
  const int64_t step_bytes = std::abs(step) * info(side.value->type.dtype).bytes;
  if (step_bytes < step_.draft().target().machine.line_bytes) return;
  b().prefetch(buffer_of(side), flat(side) + kPlacesAhead * step);
}

}  // namespace ingot::schedule
