#include <optional>

#include "aot/passes/pass.h"
#include "aot/passes/walk.h"

namespace ingot {
namespace {

// An integer constant of one element, wherever it stands.
std::optional<int64_t> number(const Value* value) {
  const LiteralRef literal = constant_of(value);
  if (!literal || !is_integer(literal->type.dtype) || literal->type.elements() != 1) return std::nullopt;
  return literal->int_at(0);
}

// The rounds of `for (i = start; i < limit; i += step)`: of a loop that compares a carried integer with a constant and
// adds a constant to it.
std::optional<int64_t> trip_count(const Op& loop) {
  const Block& condition = loop.region(0);
  const Op* test = condition.terminator()->operand(0)->op;
  if (!test || !test->is("stablehlo.compare") || test->attrs().string("comparison_direction") != "LT") return {};
  const Value* counter = test->operand(0);
  if (counter->block != &condition) return {};
  const Block& body = loop.region(1);
  const Op* sum = body.terminator()->operand(counter->index)->op;
  if (!sum || !sum->is("stablehlo.add")) return {};
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
  return *limit <= *start ? 0 : (*limit - *start + *step - 1) / *step;
}

}  // namespace

bool count_trips(Module& module, PassContext&) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    for (auto& op : block.ops) {
      if (!op->is("stablehlo.while") || op->attr_map.contains(kTripCount)) continue;
      const std::optional<int64_t> trips = trip_count(*op);
      if (!trips) continue;
      op->attr_map.emplace(kTripCount, IntAttr{*trips});
      changed = true;
    }
  });
  return changed;
}

}  // namespace ingot
