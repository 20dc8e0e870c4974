// What LLVM would call a library for on some processors, by what these have.
#pragma once

#include <llvm/IR/Module.h>

namespace ingot::codegen {

// llvm.maximum, llvm.minimum and llvm.roundeven, and saturating conversions to integers of less than 32 bits; of floats and
// vectors of them.
void expand_float_functions(llvm::Module& module);

// Every division of 64-bit integers, and every conversion between them and floats, by functions that kernels share. After
// the passes, which turn what they can into something cheaper, and some of which divide.
void expand_i64_division(llvm::Module& module);

}  // namespace ingot::codegen
