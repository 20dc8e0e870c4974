// Conversions that a processor has no instructions for, by others.
#pragma once

#include <llvm/IR/Module.h>

namespace ingot::codegen {

// Every fpext from half to float and every fptrunc from float to half, by operations on integers: exact, and rounded to
// nearest even. NaNs become quiet ones.
void expand_half_conversions(llvm::Module& module);

// Saturating conversions of vectors to integers of more or fewer bits than the floats have, by those to as many bits.
// RISC-V has instructions for them, but QEMU 7 ends on those (vfwcvt.rtz, vfncvt.rtz): no test could run them.
void expand_width_conversions(llvm::Module& module);

}  // namespace ingot::codegen
