// From one loops kernel to LLVM IR: mechanical, one instruction sequence for each node.
//
//   define void @SYMBOL(ptr context, i32 task)        the kernel ABI's entry: finds the operands, calls the body
//   define internal void @SYMBOL.body(ptr noalias align 64 x, ..., i64 task)
//
// Loops marked `unroll` are expanded here; tiles become one stack slot for each element, which mem2reg turns into
// registers; an address is a base, one variable offset and a constant displacement.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "aot/codegen/machine.h"
#include "aot/loops/loop.h"
#include "aot/loops/target.h"

namespace ingot::codegen {

// Emits `kernel` into `module`. Only primitive operations (expand_math has run).
void emit_llvm(llvm::Module& module, const loops::Kernel& kernel, const Machine& machine, const loops::Target& target,
               const std::string& symbol);

// The body's symbol.
inline std::string body_symbol(const std::string& symbol) { return symbol + ".body"; }

}  // namespace ingot::codegen
