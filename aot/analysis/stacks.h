// Stacks: tensors of which a counted loop reads or writes a row in each iteration, each of its rows once.
#pragma once

#include <optional>

#include "aot/analysis/trip_count.h"

namespace ingot {

// The row of an iteration: its number, or how many iterations follow it.
enum class RowOrder : uint8_t { kForward, kBackward };

// How a scalar of the loop's body goes through 0 to trips - 1; nullopt where it does not.
std::optional<RowOrder> row_order(const Op& loop, const Counter& counter, const Value* index);

// The shape of one row: one element of the first dimension, all of the others.
Shape row_shape(const Shape& stack);

// The update of a row of carried value `carried` in each iteration, after which its result has all of them; null where
// the loop does otherwise.
const Op* row_update(const Op& loop, const Counter& counter, int carried);

// A tensor outside of a loop whose rows are what a value of the body is in the iterations.
struct Stack {
  Value* value;  // a result of the loop where the loop writes it
  RowOrder order;
  Value* row;  // its number, in the body
};
// That of `value`, whose shape may be another with as many elements as a row; nullopt where there is none.
std::optional<Stack> stack_of(const Op& loop, const Counter& counter, const Value* value);

// What a loop hands on in each iteration, as the rows of a stack that it writes.
struct HandedOn {
  int carried;
  RowOrder order;
};
// That of a loop's result; nullopt where it is no such stack.
std::optional<HandedOn> handed_on(const Value* stack);

}  // namespace ingot
