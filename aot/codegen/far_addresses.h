// Addresses that are further apart than a displacement of the target's loads and stores reaches.
#pragma once

#include <llvm/IR/Module.h>

#include "aot/loops/target.h"

namespace ingot::codegen {

// In innermost loops, what lies further from a pointer than loops::Target::reach is found from another pointer, one for
// all that is near it, each by a sum from the one before. LLVM would keep a pointer for each access in registers, which
// are too few, and then on the stack.
void share_far_pointers(llvm::Module& module, const loops::Target& target);

}  // namespace ingot::codegen
