// Reads machine code back: whether it can be trusted, and what a kernel's hot loop really does.
#pragma once

#include <string>
#include <vector>

#include "aot/codegen/code_image.h"
#include "aot/loops/target.h"

namespace ingot::codegen {

struct Instruction {
  uint64_t offset_bytes;  // in the image
  std::string text;
};

// Every byte of every function is part of an instruction, and none is one that LLVM may have got wrong (fences.h). A
// violation is a kBug error that names the function and the instruction.
void check_instructions(const CodeImage& image, const loops::Target& target);

// The instructions of one function of the image. An unknown name is a kBug error.
std::vector<Instruction> disassemble(const CodeImage& image, const loops::Target& target, const std::string& function);

// The innermost loop with the most multiply-adds (with the most instructions where none has any).
struct HotLoop {
  int instructions = 0;
  int multiply_adds = 0;     // vfmadd..., fmla, fmadd, vfma; vpdpbusd, sdot
  int loads = 0;             // by instructions of their own, from elsewhere than the stack frame
  int stack_references = 0;  // reads and writes of the stack frame: spilled registers
  std::string text;          // one instruction a line

  // For each multiply-add; and what is left of it where a loop only multiplies and loads what it multiplies.
  double instructions_each() const { return static_cast<double>(instructions) / multiply_adds; }
  double ideal_each() const { return static_cast<double>(multiply_adds + loads) / multiply_adds; }
};

// Of the body of kernel `symbol` (see entry_symbol). A kernel without a loop gives an empty one.
HotLoop find_hot_loop(const CodeImage& image, const loops::Target& target, const std::string& symbol);

}  // namespace ingot::codegen
