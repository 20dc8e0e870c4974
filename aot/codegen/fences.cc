#include "aot/codegen/fences.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <vector>

namespace ingot::codegen {
namespace {

using llvm::Value;

llvm::Type* float_type_like(llvm::Type* type) {
  llvm::LLVMContext& context = type->getContext();
  const bool is_single = type->getScalarSizeInBits() == 32;
  return type->getWithNewType(is_single ? llvm::Type::getFloatTy(context) : llvm::Type::getDoubleTy(context));
}

// Through bit casts: a select's operand is chosen, its condition is not.
bool is_chosen(const Value* value) {
  return std::ranges::any_of(value->users(), [&](const llvm::User* user) {
    if (llvm::isa<llvm::BitCastInst>(user)) return is_chosen(user);
    const auto* const select = llvm::dyn_cast<llvm::SelectInst>(user);
    return select && select->getCondition() != value;
  });
}

// What may become a masked vpternlog: masks are of lanes of 32 and 64 bits.
bool is_chosen_disjunction(const llvm::Instruction& instruction) {
  const llvm::Type* const type = instruction.getType();
  const unsigned bits = type->getScalarSizeInBits();
  return instruction.getOpcode() == llvm::Instruction::Or && type->isVectorTy() && (bits == 32 || bits == 64) &&
         !llvm::isa<llvm::Constant>(instruction.getOperand(1)) && is_chosen(&instruction);
}

void fence_result(llvm::Instruction& instruction) {
  llvm::IRBuilder<> b(instruction.getNextNode());
  std::vector<llvm::Use*> uses;
  for (llvm::Use& use : instruction.uses()) uses.push_back(&use);
  Value* const fenced = fence(b, &instruction);
  for (llvm::Use* use : uses) use->set(fenced);
}

// (x < b) | (y < b): the second comparison gets a bound of its own.
void fence_shared_bound(llvm::Instruction& logic) {
  using namespace llvm::PatternMatch;
  Value *x = nullptr, *y = nullptr;
  if (!match(&logic, m_LogicalOr(m_Value(x), m_Value(y))) && !match(&logic, m_LogicalAnd(m_Value(x), m_Value(y))))
    return;
  const auto* const first = llvm::dyn_cast<llvm::FCmpInst>(x);
  auto* const second = llvm::dyn_cast<llvm::FCmpInst>(y);
  if (!first || !second || first == second || first->isEquality() || second->isEquality()) return;
  for (llvm::Use& use : second->operands()) {
    if (!llvm::is_contained(first->operands(), use.get())) continue;
    llvm::IRBuilder<> b(second);
    use.set(fence(b, use.get()));
  }
}

// x < b ? x : b: the comparison gets an operand of its own.
void fence_extremum(llvm::SelectInst& select) {
  Value *x = nullptr, *bound = nullptr;
  const llvm::SelectPatternFlavor flavor = matchSelectPattern(&select, x, bound).Flavor;
  auto* const comparison = llvm::dyn_cast<llvm::FCmpInst>(select.getCondition());
  if (!comparison || (flavor != llvm::SPF_FMINNUM && flavor != llvm::SPF_FMAXNUM)) return;
  llvm::IRBuilder<> b(comparison);
  Value* const compared = comparison->getOperand(llvm::isa<llvm::Constant>(comparison->getOperand(0)) ? 1 : 0);
  comparison->replaceUsesOfWith(compared, fence(b, compared));
}

}  // namespace

Value* fence(llvm::IRBuilderBase& b, Value* value) {
  llvm::Type* const type = value->getType();
  llvm::Type* const floats = type->isFPOrFPVectorTy() ? type : float_type_like(type);
  return b.CreateBitCast(b.CreateArithmeticFence(b.CreateBitCast(value, floats), floats), type);
}

void fence_logic(llvm::Module& module) {
  const llvm::Triple triple(module.getTargetTriple());
  const bool has_extremes =
      triple.isAArch64() || triple.isRISCV() || triple.isThumb();  // as instructions, with rules of their own
  for (llvm::Function& function : module) {
    std::vector<llvm::Instruction*> disjunctions;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (is_chosen_disjunction(instruction)) disjunctions.push_back(&instruction);
      if (!has_extremes) continue;
      fence_shared_bound(instruction);
      if (auto* const select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) fence_extremum(*select);
    }
    for (llvm::Instruction* const disjunction : disjunctions) fence_result(*disjunction);
  }
}

}  // namespace ingot::codegen
