// LLVM's side of a target: optimisation passes and object files.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "aot/loops/target.h"

namespace ingot::codegen {

// Registers LLVM's targets once, then looks the row's triple up. An LLVM without it is a kLimit error.
const llvm::Target& find_llvm_target(const loops::Target& target);

class Machine {
 public:
  explicit Machine(const loops::Target& target);

  void prepare(llvm::Module& module) const;  // sets triple and data layout
  // Whether loads and stores of f32 find their address by a pointer and an index of elements.
  bool takes_index(const llvm::Function& function) const;
  // Scalar clean-up only: no vectoriser, no unroller, no library call recognition.
  void optimize(llvm::Module& module) const;
  std::string object_file(llvm::Module& module) const;
  std::string assembly(llvm::Module& module) const;  // consumes the module's state as object_file does

 private:
  std::string emit(llvm::Module& module, llvm::CodeGenFileType type) const;

  std::unique_ptr<llvm::TargetMachine> machine_;
  bool has_i64_division_;
};

}  // namespace ingot::codegen
