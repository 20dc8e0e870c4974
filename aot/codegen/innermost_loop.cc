#include "aot/codegen/innermost_loop.h"

#include <llvm/IR/Instructions.h>

#include <algorithm>

namespace ingot::codegen {
namespace {

using llvm::Value;
using loops::Index;

// Where more pointers would walk by the same steps, they share one counted offset, if loads and stores take one.
constexpr int kMostPointers = 4;

bool is_scale(int64_t factor) { return factor == 1 || factor == 2 || factor == 4 || factor == 8; }

}  // namespace

InnermostLoop::InnermostLoop(const Indexing& at, loops::VarId var, Value* lower, llvm::BasicBlock* before,
                             llvm::BasicBlock* body, bool takes_index)
    : kernel_(at.kernel),
      before_(before->getTerminator()),
      outside_{before_, at.kernel, at.vars, at.buffers, at.scopes},
      var_(var),
      lower_(lower),
      body_(body),
      takes_index_(takes_index) {}

llvm::PHINode* InnermostLoop::add_phi(llvm::Type* type, Value* first) {
  Builder start(body_, body_->begin());
  llvm::PHINode* const phi = start.CreatePHI(type, 2);
  phi->addIncoming(first, before_.GetInsertBlock());
  return phi;
}

Value* InnermostLoop::multiple(loops::VarId var, int64_t factor) {
  if (var != var_ || is_scale(factor)) return nullptr;
  llvm::PHINode*& counted = multiples_[factor];
  if (!counted) counted = add_phi(before_.getInt64Ty(), before_.CreateNSWMul(lower_, before_.getInt64(factor)));
  return counted;
}

Value* InnermostLoop::address(loops::BufferId buffer, const Index& index) {
  const int64_t factor = index.coefficient(var_) * info(kernel_.buffers[buffer].dtype).bytes;
  if (factor == 0 || (takes_index_ && is_scale(factor))) return nullptr;
  if (std::ranges::any_of(index.terms, [&](const Index::Term& term) { return defined_.contains(term.var); })) {
    return nullptr;
  }
  const Index start = index.without(var_);
  for (const Pointer& pointer : pointers_) {
    if (pointer.buffer == buffer && pointer.factor == factor && pointer.start == start) return pointer.phi;
  }
  Value* const first = before_.CreateGEP(before_.getInt8Ty(), outside_.address(buffer, start),
                                         before_.CreateNSWMul(lower_, before_.getInt64(factor)));
  pointers_.push_back({buffer, start, factor, add_phi(first->getType(), first)});
  return pointers_.back().phi;
}

void InnermostLoop::use_multiples(int64_t factor) {
  Value* const offset = multiple(var_, factor);
  for (const Pointer& pointer : pointers_) {
    if (pointer.factor != factor) continue;
    Builder start(body_, body_->getFirstInsertionPt());
    Value* const base = outside_.address(pointer.buffer, pointer.start);
    pointer.phi->replaceAllUsesWith(start.CreateGEP(start.getInt8Ty(), base, offset));
    pointer.phi->eraseFromParent();
  }
  std::erase_if(pointers_, [&](const Pointer& pointer) { return pointer.factor == factor; });
}

void InnermostLoop::close(Builder& b, int64_t step) {
  std::map<int64_t, int> count;
  for (const Pointer& pointer : pointers_) ++count[pointer.factor];
  for (const auto& [factor, pointers] : count) {
    if (takes_index_ && pointers > kMostPointers) use_multiples(factor);
  }
  llvm::BasicBlock* const end = b.GetInsertBlock();
  for (const auto& [factor, phi] : multiples_) phi->addIncoming(b.CreateNSWAdd(phi, b.getInt64(factor * step)), end);
  for (const Pointer& pointer : pointers_) {
    pointer.phi->addIncoming(b.CreateGEP(b.getInt8Ty(), pointer.phi, b.getInt64(pointer.factor * step)), end);
  }
}

}  // namespace ingot::codegen
