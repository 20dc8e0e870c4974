// From loops kernels to machine code.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "aot/codegen/code_image.h"
#include "aot/loops/loop.h"
#include "aot/loops/target.h"

namespace ingot::codegen {

struct CodegenOptions {
  uint32_t threads = 2;  // compiling at once; what is made does not depend on it
  // When set: called with what is made on the way ("llvm", "optimized.llvm", "asm"), as text,
  // for each group of kernels.
  std::function<void(std::string_view stage, std::string_view text)> dump;
};

// The symbol of kernel `index` of a compilation; symbols need not be unique in names.
std::string entry_symbol(std::span<const loops::Kernel> kernels, size_t index);

// Compiles for any target, whatever the host. Kernels are emitted, optimised, linked by lld, and the result is read
// again and proved: no undefined symbol, no relocation, no writable data, all entries found, no instruction that LLVM
// may have got wrong. A violation is a kBug error that names the symbol.
CodeImage compile(std::span<const loops::Kernel> kernels, const loops::Target& target,
                  const CodegenOptions& options = {});

}  // namespace ingot::codegen
