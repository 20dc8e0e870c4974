#include "aot/codegen/narrow_selects.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace ingot::codegen {

void select_narrow_floats_by_bits(llvm::Module& module) {
  std::vector<llvm::SelectInst*> selects;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction);
      if (select && select->getType()->getScalarType()->is16bitFPTy() &&
          llvm::isa<llvm::FCmpInst>(select->getCondition()))
        selects.push_back(select);
    }
  }
  for (llvm::SelectInst* select : selects) {
    llvm::IRBuilder<> b(select);
    llvm::Type* const type = select->getType();
    llvm::Type* const bits = type->getWithNewType(b.getInt16Ty());
    llvm::Value* const chosen = b.CreateSelect(select->getCondition(), b.CreateBitCast(select->getTrueValue(), bits),
                                               b.CreateBitCast(select->getFalseValue(), bits));
    select->replaceAllUsesWith(b.CreateBitCast(chosen, type));
    select->eraseFromParent();
  }
}

}  // namespace ingot::codegen
