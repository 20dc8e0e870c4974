// The tests at the ends of loops, after LLVM's passes.
#pragma once

#include <llvm/IR/Module.h>

namespace ingot::codegen {

// Tests the next value of a counter: instcombine makes i < 20 of i + 4 < 24, so that both values live through the jump,
// and one more instruction moves the next into the place of the other. A counter that only its test asks for counts
// the turns down to zero, with which subtracting compares it.
void simplify_loop_tests(llvm::Module& module);

}  // namespace ingot::codegen
