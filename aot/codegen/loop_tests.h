// The tests at the ends of loops, after LLVM's passes.
#pragma once

#include <llvm/IR/Module.h>

namespace ingot::codegen {

// instcombine makes i < 20 of i + 4 < 24, so that both values of the counter live through the jump, and one more
// instruction moves the next into the place of the other. Here the test looks at the next value again.
void test_next_values(llvm::Module& module);

}  // namespace ingot::codegen
