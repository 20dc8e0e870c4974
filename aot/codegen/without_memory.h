// The process ends with a message where there is no memory: an exception would leave LLVM's objects half made, and their
// destructors do not bear that.
#pragma once

#include <new>

namespace ingot::codegen {

// Of what LLVM allocates by itself, from then on: its libraries do while they are loaded.
void end_llvm_without_memory();

// Of all that is allocated, while it lives.
class EndsWithoutMemory {
 public:
  EndsWithoutMemory();
  ~EndsWithoutMemory();
  EndsWithoutMemory(const EndsWithoutMemory&) = delete;
  EndsWithoutMemory& operator=(const EndsWithoutMemory&) = delete;

 private:
  std::new_handler before_;
};

}  // namespace ingot::codegen
