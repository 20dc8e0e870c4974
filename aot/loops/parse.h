// Reads a kernel in the midst of a longer text.
#pragma once

#include "aot/base/lexer.h"
#include "aot/loops/loop.h"

namespace ingot::loops {

// Takes a kernel's text, up to its closing brace, and verifies the kernel.
Kernel parse_kernel(Lexer& lexer);

}  // namespace ingot::loops
