#include "aot/codegen/loop_tests.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include <optional>

#include "aot/base/divide.h"

namespace ingot::codegen {
namespace {

// Of a counter, or of its next value, with a constant.
struct LoopTest {
  llvm::ICmpInst* test;
  llvm::ConstantInt* end;
  llvm::PHINode* counter;
  llvm::BinaryOperator* next;

  const llvm::APInt& step() const { return llvm::cast<llvm::ConstantInt>(next->getOperand(1))->getValue(); }
};

// The sum of a counter and a constant that is the counter's next value when control comes from `latch`, or null.
llvm::BinaryOperator* next_value(const llvm::PHINode& counter, const llvm::BasicBlock& latch) {
  if (counter.getBasicBlockIndex(&latch) < 0) return nullptr;
  auto* const next = llvm::dyn_cast<llvm::BinaryOperator>(counter.getIncomingValueForBlock(&latch));
  if (!next || next->getOpcode() != llvm::Instruction::Add || next->getOperand(0) != &counter) return nullptr;
  return llvm::isa<llvm::ConstantInt>(next->getOperand(1)) ? next : nullptr;
}

std::optional<LoopTest> find_test(llvm::BasicBlock& latch) {
  const auto* const branch = llvm::dyn_cast<llvm::BranchInst>(latch.getTerminator());
  if (!branch || !branch->isConditional()) return std::nullopt;
  auto* const test = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
  if (!test || !test->hasOneUse() || test->getParent() != &latch) return std::nullopt;
  llvm::Value* const tested = test->getOperand(0);
  const auto* const sum = llvm::dyn_cast<llvm::BinaryOperator>(tested);
  auto* const counter = llvm::dyn_cast<llvm::PHINode>(sum ? sum->getOperand(0) : tested);
  auto* const end = llvm::dyn_cast<llvm::ConstantInt>(test->getOperand(1));
  llvm::BinaryOperator* const next = counter ? next_value(*counter, latch) : nullptr;
  if (!end || !next || (sum && sum != next)) return std::nullopt;
  return LoopTest{test, end, counter, next};
}

void test_next_value(LoopTest& found, llvm::BasicBlock& latch) {
  if (found.test->getOperand(0) == found.next) return;
  found.test->moveBefore(latch.getTerminator());  // after the sum
  found.end = llvm::ConstantInt::get(latch.getContext(), found.end->getValue() + found.step());
  found.test->setOperand(0, found.next);
  found.test->setOperand(1, found.end);
}

// The loop goes on below a constant, and nothing but its test asks for the counter.
bool only_counts(const LoopTest& found, const llvm::BasicBlock& latch) {
  const llvm::CmpInst::Predicate how = found.test->getPredicate();
  const bool goes_on_below = (how == llvm::CmpInst::ICMP_ULT || how == llvm::CmpInst::ICMP_SLT) &&
                             latch.getTerminator()->getSuccessor(0) == found.counter->getParent();
  return goes_on_below && found.counter->getNumIncomingValues() == 2 && found.counter->hasOneUse() &&
         found.next->hasNUses(2);
}

void count_down(const LoopTest& found, const llvm::BasicBlock& latch) {
  if (!only_counts(found, latch)) return;
  const unsigned before = 1 - found.counter->getBasicBlockIndex(&latch);
  const auto* const start = llvm::dyn_cast<llvm::ConstantInt>(found.counter->getIncomingValue(before));
  if (!start || start->isNegative() || !start->getValue().slt(found.end->getValue()) || found.step().isNonPositive())
    return;
  const int64_t turns = divide_up(found.end->getSExtValue() - start->getSExtValue(), found.step().getSExtValue());
  llvm::IntegerType* const type = start->getIntegerType();
  found.counter->setIncomingValue(before, llvm::ConstantInt::get(type, turns));
  found.next->setOperand(1, llvm::ConstantInt::getSigned(type, -1));
  found.next->dropPoisonGeneratingFlags();
  found.test->setPredicate(llvm::CmpInst::ICMP_NE);
  found.test->setOperand(1, llvm::ConstantInt::get(type, 0));
}

}  // namespace

void simplify_loop_tests(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      std::optional<LoopTest> found = find_test(block);
      if (!found) continue;
      test_next_value(*found, block);
      count_down(*found, block);
    }
  }
}

}  // namespace ingot::codegen
