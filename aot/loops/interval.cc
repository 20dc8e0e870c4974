#include "aot/loops/interval.h"

#include <algorithm>
#include <array>
#include <optional>

#include "aot/loops/scalar.h"

namespace ingot::loops {
namespace {

Interval all_of(DType dtype) {
  if (dtype == DType::kI1) return {0, 1};
  const int64_t high = greatest_integer(dtype);
  return {is_unsigned(dtype) ? 0 : -high - 1, high};
}

// Of what rises or falls in each operand: its corners; nullopt where one overflows, which `apply` says by false.
std::optional<Interval> corners(const Interval& x, const Interval& y, bool (*apply)(int64_t, int64_t, int64_t*)) {
  std::array<int64_t, 4> ends{};
  const bool are_known = apply(x.low, y.low, &ends[0]) && apply(x.low, y.high, &ends[1]) &&
                         apply(x.high, y.low, &ends[2]) && apply(x.high, y.high, &ends[3]);
  const auto [low, high] = std::ranges::minmax(ends);
  return are_known ? std::optional(Interval{low, high}) : std::nullopt;
}

bool sum(int64_t a, int64_t b, int64_t* result) { return !__builtin_add_overflow(a, b, result); }
bool difference(int64_t a, int64_t b, int64_t* result) { return !__builtin_sub_overflow(a, b, result); }
bool product(int64_t a, int64_t b, int64_t* result) { return !__builtin_mul_overflow(a, b, result); }
bool shifted_left(int64_t a, int64_t b, int64_t* result) {
  return b < 62 && !__builtin_mul_overflow(a, int64_t{1} << b, result);
}

std::optional<Interval> of_two(ScalarOp op, const Interval& x, const Interval& y) {
  const bool are_positive = x.low >= 0 && y.low >= 0;
  switch (op) {
    case ScalarOp::kAdd:
      return corners(x, y, sum);
    case ScalarOp::kSubtract:
      return corners(x, y, difference);
    case ScalarOp::kMultiply:
      return corners(x, y, product);
    case ScalarOp::kMinimum:
      return Interval{std::min(x.low, y.low), std::min(x.high, y.high)};
    case ScalarOp::kMaximum:
      return Interval{std::max(x.low, y.low), std::max(x.high, y.high)};
    case ScalarOp::kDivide:
      if (x.low < 0 || y.low <= 0) return std::nullopt;
      return Interval{x.low / y.high, x.high / y.low};
    case ScalarOp::kRemainder:
      if (x.low < 0 || y.low <= 0) return std::nullopt;
      return Interval{0, std::min(x.high, y.high - 1)};
    case ScalarOp::kAnd:
      if (x.low < 0 && y.low < 0) return std::nullopt;
      return Interval{0, std::min(x.low < 0 ? y.high : x.high, y.low < 0 ? x.high : y.high)};
    case ScalarOp::kShiftLeft:
      return are_positive ? corners(x, y, shifted_left) : std::nullopt;
    case ScalarOp::kShiftRightLogical:
      return are_positive && y.high < 63 ? std::optional(Interval{x.low >> y.high, x.high >> y.low}) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<Interval> known(const Kernel& kernel, const ExprNode& e) {
  const auto arg = [&](size_t k) { return interval_of(kernel, e.args[k]); };
  switch (e.kind) {
    case ExprKind::kConstant:
      return Interval{int_of_bits(e.dtype, e.bits), int_of_bits(e.dtype, e.bits)};
    case ExprKind::kIndex:
      return Interval{kernel.low(e.index), kernel.high(e.index)};
    case ExprKind::kVar: {
      const Var &var = kernel.vars[e.var], unknown;
      if (var.low == unknown.low && var.high == unknown.high) return std::nullopt;
      return Interval{var.low, var.high};
    }
    case ExprKind::kConvert:
      return is_integer(e.args[0]->dtype) || e.args[0]->dtype == DType::kI1 ? std::optional(arg(0)) : std::nullopt;
    case ExprKind::kSplat:
      return arg(0);
    case ExprKind::kLoad:
      return all_of(kernel.buffers[e.buffer].dtype);
    case ExprKind::kApply:
      if (e.op == ScalarOp::kSelect) {
        const Interval x = arg(1), y = arg(2);
        return Interval{std::min(x.low, y.low), std::max(x.high, y.high)};
      }
      return e.args.size() == 2 && is_integer(e.dtype) ? of_two(e.op, arg(0), arg(1)) : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

Interval interval_of(const Kernel& kernel, const Expr& value) {
  const Interval all = all_of(value->dtype);
  const std::optional<Interval> found = known(kernel, *value);
  return found && found->is_within(all) ? *found : all;
}

}  // namespace ingot::loops
