// Proofs that an affine index is at least zero, from facts: other indices that are.
//
// What is wanted follows when it is a sum of multiples of facts and of what the variables' ranges say; over the
// rational numbers that is all that follows (Farkas). Integers need more, and get it where that is not enough: facts about
// quotients are rounded (Gomory's cuts), values get the ranges that facts leave of them, and each value of a variable
// with few is a case of its own.
#pragma once

#include <cstdint>
#include <span>

#include "aot/loops/loop.h"

namespace ingot::loops {

// Whether `index` follows; false: no proof was found. `vars`: by their ids, with what is known of their values.
// `steps_left`: of the search, counted down; at 0 it gives up.
bool follows(std::span<const Var> vars, std::span<const Index> facts, const Index& index, int64_t& steps_left);

// The greatest number that divides all terms, whatever the variables' values; 0 without terms.
int64_t common_divisor(std::span<const Var> vars, const Index& index);

// The same where it is at least zero, and less elsewhere: its terms come in steps.
Index tightened(std::span<const Var> vars, Index index);

}  // namespace ingot::loops
