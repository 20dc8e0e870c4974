// Pairs of bf16, by the instruction that a target has for them (Target::pair_products).
#pragma once

#include "aot/codegen/emit_scalar.h"
#include "aot/loops/target.h"

namespace ingot::codegen {

// ScalarOp::kDotPairs or kDotPairsToOdd of numbers or vectors.
llvm::Value* emit_dot_pairs(Builder& b, const loops::Target& target, loops::ScalarOp op,
                            llvm::ArrayRef<llvm::Value*> args);

}  // namespace ingot::codegen
