// What differs between the LLVM versions that this builds with (19 and later).
#pragma once

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

#include <memory>

namespace ingot::codegen {

inline std::unique_ptr<llvm::TargetMachine> create_target_machine(const llvm::Target& target, llvm::StringRef triple,
                                                                  llvm::StringRef cpu, llvm::StringRef features,
                                                                  const llvm::TargetOptions& options,
                                                                  llvm::Reloc::Model relocations,
                                                                  llvm::CodeGenOptLevel level) {
#if LLVM_VERSION_MAJOR >= 21
  const llvm::Triple named{triple};
#else
  const llvm::StringRef named = triple;
#endif
  return std::unique_ptr<llvm::TargetMachine>(
      target.createTargetMachine(named, cpu, features, options, relocations, llvm::CodeModel::Small, level));
}

inline void set_triple(llvm::Module& module, llvm::StringRef triple) {
#if LLVM_VERSION_MAJOR >= 21
  module.setTargetTriple(llvm::Triple{triple});
#else
  module.setTargetTriple(triple);
#endif
}

}  // namespace ingot::codegen
