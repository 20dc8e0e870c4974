// Editing ops that have regions: loops and branches.
#pragma once

#include "aot/graph/builder.h"
#include "aot/ops/ops.h"

namespace ingot {

inline bool is_loop(const Op& op) { return op.is(kWhile); }

// Whether a block is `outer` or stands inside of it.
bool is_inside(const Block* block, const Block& outer);

// Whether a value is made outside of a block and the regions inside of it.
bool is_outside(const Value* value, const Block& block);

// Puts a copy of the ops of `from`, without its terminator, before `before`. `map` gives what stands for arguments, and
// receives the copies. Gives what stands for the terminator's operands.
Values copy_before(Op& before, const Block& from, ValueMap& map);

// Moves the ops of `from`, without its terminator, before `before`. Gives the terminator's operands.
Values move_before(Op& before, Block& from);

// The same loop or branch with only those of its results that are kept; a loop's other carried values must be read by
// nobody. Gives the new op.
Op* keep_results(Op* op, const std::vector<bool>& kept);

// Adds a carried value to a loop, which starts as `start` and, until `set_next`, stays. Gives its number.
int add_carried(Op& loop, Value* start, const std::string& name);
void set_next(Op& loop, int carried, Value* next);

}  // namespace ingot
