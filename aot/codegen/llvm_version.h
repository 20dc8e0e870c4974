// Which LLVM makes the code.
#pragma once

#include <string>

namespace ingot::codegen {

std::string llvm_version();  // "19.1.7"

}  // namespace ingot::codegen
