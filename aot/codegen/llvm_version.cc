#include "aot/codegen/llvm_version.h"

#include <llvm/Config/llvm-config.h>

namespace ingot::codegen {

std::string llvm_version() { return LLVM_VERSION_STRING; }

}  // namespace ingot::codegen
