// The rules that every graph keeps.
#pragma once

#include "aot/base/error.h"
#include "aot/graph/graph.h"

namespace ingot {

// Throws an Error of kind `blame` (kBug after a pass of ours, kError for what a user wrote) that names the function,
// the op and the rule when one does not hold:
//   - every operand is defined above, in its block or an enclosing one; regions of an isolated op
//     (ingot.kernel) see only their arguments
//   - result types are what OpDef::infer says of operands, attributes and regions
//   - a block ends in its only terminator: func.return in functions, with the function's result types
//   - uses, owners and indices of values and ops are true
//   - function names are unique, one attribute map for each argument; called functions exist, with those types, and no
//     function calls itself, directly or through others
void verify(const Module& module, ErrorKind blame = ErrorKind::kBug);

}  // namespace ingot
