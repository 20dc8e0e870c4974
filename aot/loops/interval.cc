#include "aot/loops/interval.h"

#include <algorithm>
#include <optional>

#include "aot/loops/scalar.h"

namespace ingot::loops {
namespace {

Interval all_of(DType dtype) {
  const int bits = ingot::info(dtype).bits;
  if (dtype == DType::kI1) return {0, 1};
  if (is_unsigned(dtype)) return {0, bits >= 63 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << bits) - 1};
  const int64_t high = bits >= 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (bits - 1)) - 1;
  return {-high - 1, high};
}

// The least interval with some numbers; nullopt where one of them was too great for an int64_t.
class Numbers {
 public:
  void add(int64_t number) {
    low_ = std::min(low_, number);
    high_ = std::max(high_, number);
  }
  void overflow() { is_known_ = false; }
  std::optional<Interval> interval() const { return is_known_ ? std::optional(Interval{low_, high_}) : std::nullopt; }

 private:
  int64_t low_ = std::numeric_limits<int64_t>::max(), high_ = std::numeric_limits<int64_t>::min();
  bool is_known_ = true;
};

// Of what rises or falls in each operand: its corners. `apply` is false where it overflows.
std::optional<Interval> corners(const Interval& x, const Interval& y, bool (*apply)(int64_t, int64_t, int64_t*)) {
  Numbers numbers;
  for (const int64_t a : {x.low, x.high}) {
    for (const int64_t b : {y.low, y.high}) {
      int64_t number = 0;
      apply(a, b, &number) ? numbers.add(number) : numbers.overflow();
    }
  }
  return numbers.interval();
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
