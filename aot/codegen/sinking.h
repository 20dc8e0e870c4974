// LLVM's sinking of instructions into the blocks that use what they compute.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/IR/OptBisect.h>

#include <set>
#include <string>

namespace ingot::codegen {

// Keeps it from functions that multiply before and behind a jump of an innermost loop, such as one that is there for the
// next line of an image: multiplications would go behind it, and leave what they multiply before it, in registers that
// are too few.
class SinkingGate : public llvm::OptPassGate {
 public:
  explicit SinkingGate(llvm::Module& module);
  ~SinkingGate() override;

  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef what) override;
  bool isEnabled() const override { return true; }

 private:
  llvm::LLVMContext& context_;
  std::set<std::string> refused_;  // functions, as LLVM describes them
};

}  // namespace ingot::codegen
