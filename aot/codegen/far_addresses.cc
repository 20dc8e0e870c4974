#include "aot/codegen/far_addresses.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace ingot::codegen {
namespace {

using llvm::Value;

// A load or store at a constant distance from a pointer.
struct Access {
  llvm::Instruction* instruction;
  llvm::Use* address;
  Value* pointer;
  int64_t distance, bytes;
};

llvm::Use* address_of(llvm::Instruction& instruction) {
  if (llvm::isa<llvm::LoadInst>(instruction)) return &instruction.getOperandUse(0);
  if (llvm::isa<llvm::StoreInst>(instruction)) return &instruction.getOperandUse(1);
  return nullptr;
}

std::optional<Access> access_of(llvm::Instruction& instruction) {
  llvm::Use* const address = address_of(instruction);
  if (!address) return std::nullopt;
  const llvm::DataLayout& layout = instruction.getModule()->getDataLayout();
  const auto bytes = static_cast<int64_t>(layout.getTypeStoreSize(llvm::getLoadStoreType(&instruction)));
  auto* const sum = llvm::dyn_cast<llvm::GEPOperator>(address->get());
  llvm::APInt distance(layout.getIndexSizeInBits(0), 0);
  if (!sum || !sum->accumulateConstantOffset(layout, distance)) {
    return Access{&instruction, address, address->get(), 0, bytes};
  }
  return Access{&instruction, address, sum->getPointerOperand(), distance.getSExtValue(), bytes};
}

// What LLVM does not see through, so that it stays one sum.
Value* opaque(llvm::IRBuilderBase& b, Value* pointer) {
  auto* const type = llvm::FunctionType::get(pointer->getType(), {pointer->getType()}, false);
  return b.CreateCall(type, llvm::InlineAsm::get(type, "", "=r,0", /*hasSideEffects=*/false), {pointer});
}

// The accesses of a block by one pointer.
class Group {
 public:
  Group(std::vector<Access> accesses, const loops::Reach& reach) : accesses_(std::move(accesses)), reach_(reach) {
    highest_ = reach.highest;
    if (reach.highest_in_elements) {
      highest_ *= std::ranges::min(accesses_, {}, &Access::bytes).bytes;
    }
  }

  void share() {
    std::vector<int64_t> distances;
    for (const Access& access : accesses_) {
      if (!is_near(access.distance, 0)) distances.push_back(access.distance);
    }
    std::ranges::sort(distances);
    for (const int64_t distance : distances) {
      if (pointers_.empty() || !is_near(distance, pointers_.back().distance)) pointers_.push_back({distance, nullptr});
    }
    for (const Access& access : accesses_) {
      if (!is_near(access.distance, 0)) redirect(access);
    }
  }

 private:
  struct Pointer {
    int64_t distance;
    Value* value;
  };

  bool is_near(int64_t distance, int64_t from) const {
    return distance - from >= (from == 0 ? reach_.lowest : 0) && distance - from <= highest_;
  }

  // All pointers up to this one, before the access that needs it first.
  void redirect(const Access& access) {
    llvm::IRBuilder<> b(access.instruction);
    Value* from = access.pointer;
    int64_t from_distance = 0;
    for (Pointer& pointer : pointers_) {
      if (!pointer.value)
        pointer.value = opaque(b, b.CreateConstGEP1_64(b.getInt8Ty(), from, pointer.distance - from_distance));
      from = pointer.value;
      from_distance = pointer.distance;
      if (is_near(access.distance, from_distance)) break;
    }
    access.address->set(b.CreateConstGEP1_64(b.getInt8Ty(), from, access.distance - from_distance));
  }

  std::vector<Access> accesses_;
  const loops::Reach& reach_;
  int64_t highest_;
  std::vector<Pointer> pointers_;  // by their distances, those of accesses that are near each other
};

void share_in_block(llvm::BasicBlock& block, const loops::Reach& reach) {
  std::vector<std::vector<Access>> groups;
  for (llvm::Instruction& instruction : block) {
    const std::optional<Access> access = access_of(instruction);
    if (!access) continue;
    const auto same = std::ranges::find(groups, access->pointer, [](const auto& group) { return group[0].pointer; });
    same == groups.end() ? groups.push_back({*access}) : same->push_back(*access);
  }
  for (std::vector<Access>& group : groups) Group(std::move(group), reach).share();
}

}  // namespace

void share_far_pointers(llvm::Module& module, const loops::Target& target) {
  if (target.reach.highest == 0) return;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    llvm::DominatorTree tree(function);
    const llvm::LoopInfo loops(tree);
    for (llvm::BasicBlock& block : function) {
      const llvm::Loop* const loop = loops.getLoopFor(&block);
      if (loop && loop->isInnermost()) share_in_block(block, target.reach);
    }
  }
}

}  // namespace ingot::codegen
