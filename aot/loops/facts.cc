#include "aot/loops/facts.h"

#include <numeric>
#include <optional>

#include "aot/base/divide.h"
#include "aot/loops/bound_search.h"
#include "aot/loops/scalar.h"

namespace ingot::loops {
namespace {

// Where ranges saturate (Kernel::low): nobody knows what is beyond.
constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max() / 2;

bool holds_all_of(DType dtype, int64_t low, int64_t high) {
  if (low <= -kUnknown || high >= kUnknown) return false;
  const auto survives = [&](int64_t number) { return int_of_bits(dtype, bits_of_int(dtype, number)) == number; };
  return survives(low) && survives(high);
}

// An integer value as an index, where it cannot wrap.
std::optional<Index> affine(const Kernel& kernel, const Expr& value) {
  if (!is_integer(value->dtype)) return std::nullopt;
  std::optional<Index> index;
  const auto arg = [&](size_t i) { return affine(kernel, value->args[i]); };
  switch (value->kind) {
    case ExprKind::kConstant:
      return Index(int_of_bits(value->dtype, value->bits));
    case ExprKind::kVar:
      return Index::variable(value->var);
    case ExprKind::kSplat:
      return arg(0);
    case ExprKind::kIndex:
      index = value->index;
      break;
    case ExprKind::kConvert:
      index = arg(0);
      break;
    case ExprKind::kApply:
      if (value->op != ScalarOp::kAdd && value->op != ScalarOp::kSubtract) return std::nullopt;
      if (const auto x = arg(0), y = arg(1); x && y) index = value->op == ScalarOp::kAdd ? *x + *y : *x - *y;
      break;
    default:
      return std::nullopt;
  }
  if (!index || !holds_all_of(value->dtype, kernel.low(*index), kernel.high(*index))) return std::nullopt;
  return index;
}

}  // namespace

bool Facts::imply(const Index& index) { return follows(vars_, facts_, index, steps_left_); }

bool Facts::imply_within(const Expr& value, const Interval& interval) {
  if (value->kind == ExprKind::kApply && value->op == ScalarOp::kSelect) {
    const auto branch_is_within = [&](bool holds) {
      const Scope scope(*this);
      assume(value->args[0], holds);
      return imply_within(value->args[holds ? 1 : 2], interval);
    };
    return branch_is_within(true) && branch_is_within(false);
  }
  const std::optional<Index> index = affine(kernel_, value);
  return index && imply(*index - interval.low) && imply(Index(interval.high) - *index);
}

void Facts::assume(const Index& at_least_zero) {
  Index fact = at_least_zero;
  for (const Index::Term& term : at_least_zero.terms) {
    const Var& var = vars_[term.var];
    if (var.low == var.high) fact = fact.without(term.var) + Index(var.low * term.coefficient);
  }
  facts_.push_back(tightened(vars_, fact));
}

// That divides all its values.
int64_t Facts::divisor_of(const Index& index) const { return std::gcd(common_divisor(vars_, index), index.constant); }

void Facts::assume_bounds(const Stmt& loop) {
  const Index var = Index::variable(loop.var);
  assume(var - loop.lower);
  // The last iteration stands so far below the upper bound as steps from the lower bound leave.
  const auto assume_below = [&](const Index& upper) {
    const Index length = upper - loop.lower;
    const int64_t steps = std::gcd(loop.step, common_divisor(vars_, length));
    assume(upper - var - Index(length.constant - floor_divide(length.constant - 1, steps) * steps));
  };
  assume_below(loop.upper);
  for (const Index& also : loop.upper_also) assume_below(also);
}

void Facts::assume(const Expr& condition, bool holds) {
  const ExprNode& e = *condition;
  if (e.kind == ExprKind::kSplat) return assume(e.args[0], holds);
  if (e.kind == ExprKind::kVar) {
    if (const auto known = conditions_.find(e.var); known != conditions_.end()) assume(known->second, holds);
    return;
  }
  if (e.kind != ExprKind::kApply) return;
  if (e.op == ScalarOp::kNot) return assume(e.args[0], !holds);
  if (e.op == (holds ? ScalarOp::kAnd : ScalarOp::kOr)) {
    for (const Expr& arg : e.args) assume(arg, holds);
    return;
  }
  if (e.op < ScalarOp::kEqual || e.op > ScalarOp::kGreaterEqual) return;
  const std::optional<Index> x = affine(kernel_, e.args[0]);
  const std::optional<Index> y = affine(kernel_, e.args[1]);
  if (!x || !y) return;
  const auto is_one_of = [&](ScalarOp when_true, ScalarOp when_false) {
    return e.op == (holds ? when_true : when_false);
  };
  if (is_one_of(ScalarOp::kLess, ScalarOp::kGreaterEqual)) return assume(*y - *x - 1);
  if (is_one_of(ScalarOp::kGreater, ScalarOp::kLessEqual)) return assume(*x - *y - 1);
  if (is_one_of(ScalarOp::kLessEqual, ScalarOp::kGreater)) return assume(*y - *x);
  if (is_one_of(ScalarOp::kGreaterEqual, ScalarOp::kLess)) return assume(*x - *y);
  if (is_one_of(ScalarOp::kEqual, ScalarOp::kNotEqual)) {
    assume(*x - *y);
    assume(*y - *x);
  }
}

void Facts::assume_value(VarId id, const Expr& value) {
  if (value->dtype == DType::kI1) conditions_[id] = value;
  if (!is_integer(value->dtype)) return;
  const Index var = Index::variable(id);
  int64_t& multiple = vars_[id].multiple_of;
  if (const std::optional<Index> index = affine(kernel_, value)) {
    multiple = std::max(multiple, divisor_of(*index));
    assume(var - *index);
    return assume(*index - var);
  }
  if (value->kind != ExprKind::kApply || value->args.size() != 2) return;
  const std::optional<Index> x = affine(kernel_, value->args[0]);
  const std::optional<Index> y = affine(kernel_, value->args[1]);
  switch (value->op) {
    case ScalarOp::kDivide:
      if (!x || !y || !y->is_constant() || y->constant <= 0 || kernel_.low(*x) < 0) return;
      if (divisor_of(*x) % y->constant == 0) multiple = std::max(multiple, divisor_of(*x) / y->constant);
      assume(*x - var * y->constant);
      return assume(var * y->constant + Index(y->constant - 1) - *x);
    case ScalarOp::kMinimum:
      if (x) assume(*x - var);
      if (y) assume(*y - var);
      return;
    case ScalarOp::kMaximum:
      if (x) assume(var - *x);
      if (y) assume(var - *y);
      return;
    default:
      return;
  }
}

}  // namespace ingot::loops
