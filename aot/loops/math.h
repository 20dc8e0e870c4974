// Elementary functions as primitive operations.
//
// Every function is right over its whole range: denormals, overflow, infinities and NaN included, without branches, for
// any number of lanes. No bound depends on the machine: only correctly rounded primitives are used. Worst errors in
// units in the last place are measured by tests/math_test.cc and promised by the op rows (OpDef::ulp).
#pragma once

#include "aot/loops/builder.h"

namespace ingot::loops {

// What op(args) is in primitive operations; `op` is of kind M in scalar_ops.def, the dtype f32 or f64.
Expr expand(KernelBuilder& b, ScalarOp op, const std::vector<Expr>& args);

}  // namespace ingot::loops
