// Every op's row, for code that makes or meets ops of one kind: `op.is(kReshape)`, `b.make(kTanh, {x})`.
#pragma once

#include "aot/graph/op.h"

namespace ingot {

#define OP(name, file)          \
  namespace file##_op {         \
    extern const OpDef k##name; \
  }                             \
  using file##_op::k##name;
#include "aot/ops/ops.def"
#undef OP

// All of them, for a parser.
const OpTable& all_ops();

// The op of a name that is known only when the program runs; anything else is a bug of the caller.
const OpDef& op_named(std::string_view name);

}  // namespace ingot
