#include "aot/codegen/loop_tests.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

namespace ingot::codegen {
namespace {

// The sum of a counter and a constant that is the counter's next value when control comes from `latch`, or null.
llvm::BinaryOperator* next_value(const llvm::PHINode& counter, const llvm::BasicBlock& latch) {
  if (counter.getBasicBlockIndex(&latch) < 0) return nullptr;
  auto* const next = llvm::dyn_cast<llvm::BinaryOperator>(counter.getIncomingValueForBlock(&latch));
  if (!next || next->getOpcode() != llvm::Instruction::Add || next->getOperand(0) != &counter) return nullptr;
  return llvm::isa<llvm::ConstantInt>(next->getOperand(1)) ? next : nullptr;
}

void test_next_value(llvm::BasicBlock& latch) {
  const auto* const branch = llvm::dyn_cast<llvm::BranchInst>(latch.getTerminator());
  if (!branch || !branch->isConditional()) return;
  auto* const test = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
  if (!test || !test->hasOneUse() || test->getParent() != &latch) return;
  const auto* const counter = llvm::dyn_cast<llvm::PHINode>(test->getOperand(0));
  const auto* const end = llvm::dyn_cast<llvm::ConstantInt>(test->getOperand(1));
  if (!counter || !end) return;
  llvm::BinaryOperator* const next = next_value(*counter, latch);
  if (!next) return;
  const llvm::APInt& step = llvm::cast<llvm::ConstantInt>(next->getOperand(1))->getValue();
  test->moveBefore(latch.getTerminator());  // after the sum
  test->setOperand(0, next);
  test->setOperand(1, llvm::ConstantInt::get(end->getType(), end->getValue() + step));
}

}  // namespace

void test_next_values(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) test_next_value(block);
  }
}

}  // namespace ingot::codegen
