// What instruction selection must not see as a maximum.
#pragma once

namespace llvm {
class Module;
}

namespace ingot::codegen {

// Selects between f16 or bf16 by a comparison of them become selects between their bits. LLVM's passes narrow an f32
// maximum of f16 values to `x > y ? x : y` of f16, and the x86 back end makes that a call of fmaxf.
void select_narrow_floats_by_bits(llvm::Module& module);

}  // namespace ingot::codegen
