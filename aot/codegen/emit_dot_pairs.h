// ScalarOp::kDotPairs by the instruction that a target has for it (Target::has_pair_products).
#pragma once

#include "aot/codegen/emit_scalar.h"
#include "aot/loops/target.h"

namespace ingot::codegen {

// sum + the products of the two bf16 in `a`, words of i32, by those in `b`; numbers or vectors.
llvm::Value* emit_dot_pairs(Builder& b, const loops::Target& target, llvm::ArrayRef<llvm::Value*> args);

}  // namespace ingot::codegen
