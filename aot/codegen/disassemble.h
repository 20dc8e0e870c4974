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
  int multiply_adds = 0;  // vfmadd..., fmla, fmadd, vfma; vpdpbusd, sdot; vdpbf16ps, bfdot
  int additions = 0;      // of floats that are in registers: to sums that lie in memory
  int loads = 0;          // by instructions of their own, from elsewhere than the stack frame
  int stores = 0;         // to elsewhere
  int prefetches = 0;
  int addresses = 0;         // of loads and stores that take no displacement: RISC-V's of vectors
  int stack_references = 0;  // reads and writes of the stack frame: spilled registers
  std::string text;          // one instruction a line

  // What the kernel asks for; all else is counting, copying, spilling and jumping. Sums that a loop stores began in it,
  // each by an instruction.
  int asked() const { return multiply_adds + additions + loads + prefetches + addresses + 2 * stores; }
  // For each multiply-add.
  double instructions_each() const { return static_cast<double>(instructions) / multiply_adds; }
  double asked_each() const { return static_cast<double>(asked()) / multiply_adds; }
};

// Of the body of kernel `symbol` (see entry_symbol). A kernel without a loop gives an empty one.
HotLoop find_hot_loop(const CodeImage& image, const loops::Target& target, const std::string& symbol);

}  // namespace ingot::codegen
