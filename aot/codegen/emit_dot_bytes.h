// ScalarOp::kDotBytes by the instructions that a target has for it (Target::byte_products).
#pragma once

#include "aot/codegen/emit_scalar.h"
#include "aot/loops/target.h"

namespace ingot::codegen {

// sum + the products of unsigned bytes of `a` by signed ones of `b`; numbers or vectors of i32.
llvm::Value* emit_dot_bytes(Builder& b, const loops::Target& target, llvm::ArrayRef<llvm::Value*> args);

}  // namespace ingot::codegen
