// Multiplication by powers of two, by the instruction that a target has for it (Target::has_scale).
#pragma once

#include "aot/codegen/emit_scalar.h"
#include "aot/loops/target.h"

namespace ingot::codegen {

// ScalarOp::kScale of numbers or vectors: x 2^n, rounded once, for `shifted` = 1.5 2^m + n and m bits of mantissa.
llvm::Value* emit_scale(Builder& b, const loops::Target& target, llvm::Value* x, llvm::Value* shifted);

}  // namespace ingot::codegen
