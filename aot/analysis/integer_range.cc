#include "aot/analysis/integer_range.h"

#include <algorithm>

#include "aot/analysis/walk.h"
#include "aot/ops/ops.h"

namespace ingot {
namespace {

constexpr int kRangeOpsMax = 12;  // that are looked through, one behind the other

// Where every corner of two ranges gives no less and no more.
IntegerRange product(const IntegerRange& a, const IntegerRange& b) {
  const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {low, high};
}

class RangeReader {
 public:
  std::optional<IntegerRange> range(const Value* value, int ops_left) const {
    const std::optional<IntegerRange> all = ingot::range_of(value->type.dtype);
    if (!all || value->type.elements() == 0 || !value->op || ops_left == 0) return all;
    if (const LiteralRef literal = constant_of(value)) return range_of(*literal);
    const std::optional<IntegerRange> made = made_by(*value->op, ops_left - 1);
    return made && made->is_within(*all) ? made : all;  // what does not fit wraps
  }

 private:
  std::optional<IntegerRange> made_by(const Op& op, int ops_left) const {
    const auto operand = [&](int k) { return range(op.operand(k), ops_left); };
    if (op.def->access || op.is(kSelect)) {
      std::optional<IntegerRange> all;
      for (size_t k = op.is(kSelect) ? 1 : 0; k < op.operands.size(); ++k) {
        if (op.operands[k]->type.dtype != op.result()->type.dtype || op.operands[k]->type.elements() == 0) continue;
        const std::optional<IntegerRange> one = range(op.operands[k], ops_left);
        if (!one) return std::nullopt;
        all = all ? joined(*all, *one) : *one;
      }
      return all;
    }
    if (op.is(kConvert)) return is_float(op.operand(0)->type.dtype) ? std::nullopt : operand(0);
    if (op.is(kNegate)) return with(operand(0), IntegerRange{-1, -1}, product);
    if (op.is(kAdd)) return with(operand(0), operand(1), sum);
    if (op.is(kSubtract)) return with(operand(0), with(operand(1), IntegerRange{-1, -1}, product), sum);
    if (op.is(kMultiply)) return with(operand(0), operand(1), product);
    if (op.is(kMaximum)) return with(operand(0), operand(1), greater);
    if (op.is(kMinimum)) return with(operand(0), operand(1), lesser);
    if (op.is(kClamp)) return with(with(operand(0), operand(1), greater), operand(2), lesser);
    return std::nullopt;
  }

  using Combine = IntegerRange (*)(const IntegerRange&, const IntegerRange&);
  static std::optional<IntegerRange> with(const std::optional<IntegerRange>& a, const std::optional<IntegerRange>& b,
                                          Combine combine) {
    if (!a || !b) return std::nullopt;
    return combine(*a, *b);
  }

  static IntegerRange sum(const IntegerRange& a, const IntegerRange& b) { return {a.low + b.low, a.high + b.high}; }
  static IntegerRange greater(const IntegerRange& a, const IntegerRange& b) {
    return {std::max(a.low, b.low), std::max(a.high, b.high)};
  }
  static IntegerRange lesser(const IntegerRange& a, const IntegerRange& b) {
    return {std::min(a.low, b.low), std::min(a.high, b.high)};
  }
};

}  // namespace

IntegerRange joined(const IntegerRange& a, const IntegerRange& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

IntegerRange range_of(const Literal& literal) {
  const int64_t count = literal.is_splat ? 1 : literal.type.elements();
  IntegerRange range{literal.int_at(0), literal.int_at(0)};
  for (int64_t k = 1; k < count; ++k) {
    const int64_t at = literal.int_at(k);
    range = joined(range, {at, at});
  }
  return range;
}

std::optional<IntegerRange> range_of(DType dtype) {
  if (is_bool(dtype)) return IntegerRange{0, 1};
  if (!is_integer(dtype) || info(dtype).bits > 32) return std::nullopt;
  const int64_t values = int64_t{1} << info(dtype).bits;
  if (is_signed(dtype)) return IntegerRange{-values / 2, values / 2 - 1};
  return IntegerRange{0, values - 1};
}

std::optional<IntegerRange> integer_range(const Value* value) { return RangeReader().range(value, kRangeOpsMax); }

}  // namespace ingot
