#include "aot/analysis/trip_count.h"

#include "aot/analysis/walk.h"
#include "aot/ops/ops.h"

namespace ingot {
namespace {

// An integer constant of one element, wherever it stands.
std::optional<int64_t> number(const Value* value) {
  const LiteralRef literal = constant_of(value);
  if (!literal || !is_integer(literal->type.dtype) || literal->type.elements() != 1) return std::nullopt;
  return literal->int_at(0);
}

}  // namespace

std::optional<Counter> counter_of(const Op& loop) {
  const Block& condition = loop.region(0);
  const Op* test = condition.terminator()->operand(0)->op;
  if (!test || !test->is(kCompare) || test->attrs().string("comparison_direction") != "LT") return {};
  const Value* counter = test->operand(0);
  if (counter->block != &condition) return {};
  const Block& body = loop.region(1);
  const Op* sum = body.terminator()->operand(counter->index)->op;
  if (!sum || !sum->is(kAdd)) return {};
  const Value* old = body.argument(counter->index);
  const Value* increment = sum->operand(0) == old   ? sum->operand(1)
                           : sum->operand(1) == old ? sum->operand(0)
                                                    : nullptr;
  if (!increment) return {};
  const std::optional<int64_t> start = number(loop.operand(counter->index)), limit = number(test->operand(1)),
                               step = number(increment);
  constexpr int64_t kFar = int64_t{1} << 30;  // nothing wraps below
  if (!start || !limit || !step || *step <= 0 || *step > kFar || *start < 0 || *start > kFar || *limit > kFar)
    return {};
  if (const int bits = info(old->type.dtype).bits; bits < 32 && (*limit + *step) >> (bits - 1) != 0) return {};
  return Counter{counter->index, *start, *limit, *step};
}

std::optional<int64_t> trip_count(const Op& loop) {
  const LiteralRef go_on = constant_of(loop.region(0).terminator()->operand(0));
  if (go_on && go_on->int_at(0) == 0) return 0;
  const std::optional<Counter> counter = counter_of(loop);
  return counter ? std::optional(counter->trips()) : std::nullopt;
}

}  // namespace ingot
