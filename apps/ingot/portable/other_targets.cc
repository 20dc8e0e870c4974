// LLVM 19's other processors, left out of the portable tool: lld prepares all that LLVM was built for, and would bring
// in half of it. Nor is there anything to optimise at link time, which is all that Polly would be asked for.
#include <cstdlib>

#define LEAVE_OUT(target)                                 \
  extern "C" void LLVMInitialize##target##TargetInfo() {} \
  extern "C" void LLVMInitialize##target##Target() {}     \
  extern "C" void LLVMInitialize##target##TargetMC() {}   \
  extern "C" void LLVMInitialize##target##AsmPrinter() {} \
  extern "C" void LLVMInitialize##target##AsmParser() {}  \
  extern "C" void LLVMInitialize##target##Disassembler() {}

LEAVE_OUT(AMDGPU)
LEAVE_OUT(ARM)
LEAVE_OUT(AVR)
LEAVE_OUT(BPF)
LEAVE_OUT(Hexagon)
LEAVE_OUT(Lanai)
LEAVE_OUT(LoongArch)
LEAVE_OUT(M68k)
LEAVE_OUT(MSP430)
LEAVE_OUT(Mips)
LEAVE_OUT(NVPTX)
LEAVE_OUT(PowerPC)
LEAVE_OUT(RISCV)
LEAVE_OUT(Sparc)
LEAVE_OUT(SystemZ)
LEAVE_OUT(VE)
LEAVE_OUT(WebAssembly)
LEAVE_OUT(XCore)
LEAVE_OUT(Xtensa)

void getPollyPluginInfo() { std::abort(); }
