#include "aot/codegen/sinking.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>

namespace ingot::codegen {
namespace {

bool multiplies(const llvm::BasicBlock& block) {
  return std::ranges::any_of(block, [](const llvm::Instruction& instruction) {
    const auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    return call && call->getIntrinsicID() == llvm::Intrinsic::fma;
  });
}

bool multiplies_around_jumps(llvm::Function& function) {
  llvm::DominatorTree tree(function);
  const llvm::LoopInfo loops(tree);
  return std::ranges::any_of(loops.getLoopsInPreorder(), [](const llvm::Loop* loop) {
    const auto blocks = loop->blocks();
    return loop->isInnermost() && std::ranges::count_if(blocks, [](auto* block) { return multiplies(*block); }) > 1;
  });
}

}  // namespace

SinkingGate::SinkingGate(llvm::Module& module) : context_(module.getContext()) {
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() && multiplies_around_jumps(function))
      refused_.insert("function (" + function.getName().str() + ")");
  }
  context_.setOptPassGate(*this);
}

SinkingGate::~SinkingGate() { context_.setOptPassGate(llvm::getGlobalPassGate()); }

bool SinkingGate::shouldRunPass(llvm::StringRef pass, llvm::StringRef what) {
  return pass != "Machine code sinking" || !refused_.contains(what.str());
}

}  // namespace ingot::codegen
