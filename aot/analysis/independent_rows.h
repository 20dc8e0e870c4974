// Rows that a program computes each by itself: a batch may be padded to more of them, and what it gives for the first
// ones stays as it is.
#pragma once

#include <string>

#include "aot/graph/graph.h"

namespace ingot {

// Why an entry point may not be given more rows than are wanted: a sentence that names an op, with its place; "" where
// it may. `few` and `more` are the entry point for `count` and `count + 1` rows, as the passes up to `expand` leave it.
// It may where both compute alike, row i of every result depends on rows i of the arguments alone, rows of arguments and
// results lie along their first dimension, and no state has any. What is not known to keep rows apart does not.
// Cost: linear in ops.
std::string why_rows_depend(const Function& few, const Function& more, int64_t count);

}  // namespace ingot
