// Elementary functions as primitive operations.
//
// Every function is right over its whole range: denormals, overflow, infinities and NaN included, for any number of
// lanes. There are no branches, but for arguments that are rare. No bound depends on the machine: only correctly
// rounded primitives are used. Worst errors in units in the last place are measured by tests/compiler/math_test.cc and
// promised by the op rows (OpDef::ulp).
#pragma once

#include "aot/loops/builder.h"

namespace ingot::loops {

// What op(args) is in primitive operations; `op` is a MATH_OP of scalar_ops.def, the dtype f32 or f64.
// Right wherever is_rare does not hold.
Expr expand(KernelBuilder& b, ScalarOp op, const std::vector<Expr>& args);

// Some functions have arguments that are rare and costly (sin of a large angle): whether x is one, null where no x is;
// and what op(x) is then.
Expr is_rare(KernelBuilder& b, ScalarOp op, const Expr& x);
Expr expand_rare(KernelBuilder& b, ScalarOp op, const Expr& x);

}  // namespace ingot::loops
