// Exact simplification of one operation, given its operands.
#pragma once

#include <optional>
#include <span>

#include "aot/loops/loop.h"
#include "aot/loops/scalar.h"

namespace ingot::loops {

// The bits that every lane of `value` has, when that is known: a constant, perhaps in a splat.
std::optional<Bits> constant_bits(const Expr& value);

// An operand or constant that op(args) equals for all values of the other operands, bit for bit (NaN payloads aside);
// null when there is none. The result may have one lane where the operands had several.
Expr simplified(ScalarOp op, std::span<const Expr> args);

Expr make_constant(DType dtype, Bits bits);

}  // namespace ingot::loops
