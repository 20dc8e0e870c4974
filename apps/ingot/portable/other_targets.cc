// LLVM 19's other processors, left out of the portable tool: lld prepares all that LLVM was built for, and would bring
// in half of it. Nor is there anything to optimise at link time, which is all that Polly would be asked for.
#include <cstdlib>

#define OTHER_TARGETS(X)                                                                                         \
  X(AMDGPU)                                                                                                      \
  X(ARM)                                                                                                         \
  X(AVR) X(BPF) X(Hexagon) X(Lanai) X(LoongArch) X(M68k) X(MSP430) X(Mips) X(NVPTX) X(PowerPC) X(RISCV) X(Sparc) \
      X(SystemZ) X(VE) X(WebAssembly) X(XCore) X(Xtensa)

#define LEAVE_OUT(target)                                 \
  extern "C" void LLVMInitialize##target##TargetInfo() {} \
  extern "C" void LLVMInitialize##target##Target() {}     \
  extern "C" void LLVMInitialize##target##TargetMC() {}   \
  extern "C" void LLVMInitialize##target##AsmPrinter() {} \
  extern "C" void LLVMInitialize##target##AsmParser() {}  \
  extern "C" void LLVMInitialize##target##Disassembler() {}
OTHER_TARGETS(LEAVE_OUT)

void getPollyPluginInfo() { std::abort(); }
