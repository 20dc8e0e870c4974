// Fences: values that LLVM does not look through. A fence is no instruction; it only keeps apart what LLVM 19 would
// join and get wrong. By the numbers of LLVM's issues:
//
//   157254  A select between 0 and a converted float, by a comparison of the float before its conversion, becomes a
//           select before the conversion that gives 0 for -0. From f16 on x86 it may also become a call of fmaxf.
//           Every conversion between floats is fenced where it is emitted (emit_convert.cc).
//   157929  AVX-512 folds (x & c) | (y & ~c) under a select into one masked vpternlog; with an operand in memory its
//           truth table may be that of other operands. fence_logic; what check_instructions finds is refused.
//   223089  On AArch64 (x >= b) | (y >= b) becomes a comparison of fmaxnm(x, y), and the like, which is another thing
//           for signalling NaNs. fence_logic.
//   93414   On AArch64 x < b ? x : b becomes fminnm(x, b), which is another thing for zeros of different signs and for
//           signalling NaNs; on RISC-V fmin, on ARM vminnm. fence_logic.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace ingot::codegen {

// Of floats or of integers of 32 or 64 bits, single ones or vectors.
llvm::Value* fence(llvm::IRBuilderBase& b, llvm::Value* value);

// Right before instruction selection: fences disjunctions of bits that a select chooses and, on AArch64, RISC-V and ARM, what two
// joined comparisons share and what a select both compares and chooses.
void fence_logic(llvm::Module& module);

}  // namespace ingot::codegen
