// A code image, and data that go with it, as an object file for the linker of a program.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "aot/loops/target.h"

namespace ingot::codegen {

struct ImageObject {
  struct Function {
    std::string symbol;
    uint64_t offset_bytes;  // in the code
  };
  struct Data {
    std::string symbol;
    std::span<const std::byte> bytes;
    bool is_constant;  // else it lies in memory that can be written
  };

  std::string name;                 // sections are called after it: .text.NAME, .rodata.NAME, .data.NAME
  std::span<const std::byte> code;  // the bytes of a CodeImage
  uint64_t code_alignment_bytes;
  std::vector<Function> functions;
  std::vector<Data> data;
};

// The bytes of a relocatable ELF file for the target, which defines every symbol and needs none.
std::string write_object(const ImageObject& object, const loops::Target& target);

}  // namespace ingot::codegen
