#include "aot/codegen/rewrite.h"

#include <llvm/IR/InstIterator.h>

#include <vector>

namespace ingot::codegen {

void replace_instructions(llvm::Module& module, bool (*is_meant)(const llvm::Instruction&),
                          llvm::Value* (*make)(llvm::Instruction&)) {
  std::vector<llvm::Instruction*> found;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (is_meant(instruction)) found.push_back(&instruction);
    }
  }
  for (llvm::Instruction* instruction : found) {
    instruction->replaceAllUsesWith(make(*instruction));
    instruction->eraseFromParent();
  }
}

llvm::Value* call_shared(Builder& b, std::string_view name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments,
                         llvm::function_ref<void(llvm::Function&)> emit_body) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  const std::string symbol = std::string(kSharedFunctions) + std::string(name);
  llvm::Function* function = module.getFunction(symbol);
  if (!function) {
    std::vector<llvm::Type*> types;
    for (const llvm::Value* argument : arguments) types.push_back(argument->getType());
    auto* const signature = llvm::FunctionType::get(result, types, false);
    function = llvm::Function::Create(signature, llvm::Function::InternalLinkage, symbol, module);
    const llvm::AttributeSet of_caller = b.GetInsertBlock()->getParent()->getAttributes().getFnAttrs();
    function->addFnAttrs(llvm::AttrBuilder(b.getContext(), of_caller));
    emit_body(*function);
  }
  return b.CreateCall(function, arguments);
}

}  // namespace ingot::codegen
