// Machine code of a set of kernels: one flat, position independent piece of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::codegen {

// Instructions first, then the constants that they reach relative to themselves. Mapped read and execute as it is, at
// any address that is a multiple of `alignment_bytes`: it needs no relocation,
// imports nothing and has no writable data.
struct CodeImage {
  struct Function {
    std::string name;
    uint64_t offset_bytes;
    uint64_t size_bytes;
  };

  std::vector<std::byte> bytes;
  std::vector<uint64_t> entry_offsets;  // one for each kernel, in the order given to compile
  std::vector<uint64_t> stack_bytes;    // the most that a task of each kernel uses
  std::vector<Function> functions;      // all of them, for profilers and disassembly, by ascending offset
  uint64_t text_bytes = 0;              // where the instructions end
  uint64_t alignment_bytes = 4096;
  std::string required_features;  // what the processor must have: Target::required
};

}  // namespace ingot::codegen
