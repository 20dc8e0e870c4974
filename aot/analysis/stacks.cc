#include "aot/analysis/stacks.h"

#include "aot/analysis/regions.h"
#include "aot/analysis/walk.h"

namespace ingot {
namespace {

// first + step * (the number of the iteration), modulo 2^64: a narrower type wraps at a divisor of that.
struct Progression {
  uint64_t first, step;
};

std::optional<Progression> progression_of(const Op& loop, const Counter& counter, const Value* value) {
  if (value == loop.region(1).argument(counter.index)) {
    return Progression{static_cast<uint64_t>(counter.start), static_cast<uint64_t>(counter.step)};
  }
  const LiteralRef literal = constant_of(value);
  if (literal && is_integer(literal->type.dtype) && literal->type.elements() == 1) {
    return Progression{static_cast<uint64_t>(literal->int_at(0)), 0};
  }
  const Op* op = value->op;
  if (!op || !(op->is(kAdd) || op->is(kSubtract))) return std::nullopt;
  const std::optional<Progression> x = progression_of(loop, counter, op->operand(0));
  const std::optional<Progression> y = progression_of(loop, counter, op->operand(1));
  if (!x || !y) return std::nullopt;
  if (op->is(kAdd)) return Progression{x->first + y->first, x->step + y->step};
  return Progression{x->first - y->first, x->step - y->step};
}

bool is_row_of(const Value* window, const Value* stack, const Counter& counter) {
  const Shape& shape = stack->type.shape;
  return !shape.empty() && shape[0] == counter.trips() && window->type.shape == row_shape(shape);
}

}  // namespace

std::optional<RowOrder> row_order(const Op& loop, const Counter& counter, const Value* index) {
  const std::optional<Progression> rows = progression_of(loop, counter, index);
  if (!rows) return std::nullopt;
  if (rows->first == 0 && rows->step == 1) return RowOrder::kForward;
  if (rows->first == static_cast<uint64_t>(counter.trips()) - 1 && rows->step == ~uint64_t{0})
    return RowOrder::kBackward;
  return std::nullopt;
}

Shape row_shape(const Shape& stack) {
  Shape shape = stack;
  shape[0] = 1;
  return shape;
}

const Op* row_update(const Op& loop, const Counter& counter, int carried) {
  const Block& body = loop.region(1);
  const Op* update = body.terminator()->operand(carried)->op;
  if (!update || !update->is(kDynamicUpdateSlice) || update->operand(0) != body.argument(carried)) return nullptr;
  const bool is_row = is_row_of(update->operand(1), update->operand(0), counter);
  return is_row && row_order(loop, counter, update->operand(2)) ? update : nullptr;
}

std::optional<Stack> stack_of(const Op& loop, const Counter& counter, const Value* value) {
  const Value* row = under_reshapes(value);
  if (const Op* read = row->op; read && read->is(kDynamicSlice)) {
    Value* stack = read->operand(0);
    const bool is_from_outside = is_outside(stack, loop.region(0)) && is_outside(stack, loop.region(1));
    if (is_from_outside && is_row_of(row, stack, counter)) {
      if (const auto order = row_order(loop, counter, read->operand(1))) return Stack{stack, *order, read->operand(1)};
    }
  }
  for (int i = 0; i < std::ssize(loop.operands); ++i) {
    const Op* update = row_update(loop, counter, i);
    if (update && under_reshapes(update->operand(1)) == row) {
      return Stack{loop.result(i), *row_order(loop, counter, update->operand(2)), update->operand(2)};
    }
  }
  return std::nullopt;
}

std::optional<HandedOn> handed_on(const Value* stack) {
  const Op* loop = stack->op;
  if (!loop || !is_loop(*loop)) return std::nullopt;
  const std::optional<Counter> counter = counter_of(*loop);
  const Op* update = counter ? row_update(*loop, *counter, stack->index) : nullptr;
  if (!update) return std::nullopt;
  const Value* row = under_reshapes(update->operand(1));
  for (int i = 0; i < std::ssize(loop->operands); ++i) {
    if (under_reshapes(loop->region(1).terminator()->operand(i)) != row) continue;
    return HandedOn{i, *row_order(*loop, *counter, update->operand(2))};
  }
  return std::nullopt;
}

}  // namespace ingot
