#include "aot/codegen/without_memory.h"

#include <llvm/Support/ErrorHandling.h>

#include <cstdio>
#include <cstdlib>

namespace ingot::codegen {
namespace {

[[noreturn]] void end() {
  std::fputs("error: out of memory\n", stderr);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

void end_llvm_without_memory() {
  static const bool is_said = [] {
    llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { end(); });
    return true;
  }();
  static_cast<void>(is_said);
}

EndsWithoutMemory::EndsWithoutMemory() : before_(std::set_new_handler(end)) {}
EndsWithoutMemory::~EndsWithoutMemory() { std::set_new_handler(before_); }

}  // namespace ingot::codegen
