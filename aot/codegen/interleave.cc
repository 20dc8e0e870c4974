#include "aot/codegen/interleave.h"

#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

namespace ingot::codegen {
namespace {

using llvm::Instruction;
using loops::ExprKind;
using loops::ExprNode;
using loops::Index;
using loops::Stmt;
using loops::StmtKind;

constexpr int kLongChain = 24;  // operations of a copy; processors overlap shorter ones by themselves
constexpr size_t kTurns = 4;    // copies at once: more need registers for more values than they gain

// What a copy does.
struct Work {
  int operations = 0;
  std::set<loops::BufferId> loaded, stored;
  std::set<loops::TileId> set;
  std::map<loops::TileId, std::vector<std::vector<Index>>> elements;  // that it reads or sets

  void take(const Stmt& stmt) {
    std::unordered_set<const ExprNode*> seen;
    take(*stmt.value, seen);
    if (stmt.mask) take(*stmt.mask, seen);
    if (stmt.kind == StmtKind::kStore) stored.insert(stmt.buffer);
    if (stmt.kind != StmtKind::kSet) return;
    set.insert(stmt.tile);
    elements[stmt.tile].push_back(stmt.indices);
  }

  void take(const ExprNode& expr, std::unordered_set<const ExprNode*>& seen) {
    if (!seen.insert(&expr).second) return;
    if (expr.kind == ExprKind::kLoad) loaded.insert(expr.buffer);
    if (expr.kind == ExprKind::kTile) elements[expr.tile].push_back(expr.indices);
    operations += expr.kind == ExprKind::kApply;
    for (const loops::Expr& arg : expr.args) take(*arg, seen);
  }

  // Whether no copy reads or sets what another sets: of such a tile each has an element that its variable tells apart.
  bool is_apart(loops::VarId copy) const {
    const auto has_own = [&](loops::TileId tile) {
      const std::vector<std::vector<Index>>& used = elements.at(tile);
      return std::ranges::all_of(used, [&](const auto& element) { return element == used[0]; }) &&
             std::ranges::any_of(used[0], [&](const Index& index) { return index.coefficient(copy) != 0; });
    };
    return std::ranges::all_of(set, has_own) &&
           std::ranges::none_of(stored, [&](loops::BufferId buffer) { return loaded.contains(buffer); });
  }
};

bool is_simple(const Stmt& stmt) {
  return stmt.kind == StmtKind::kLet || stmt.kind == StmtKind::kSet || stmt.kind == StmtKind::kStore;
}

}  // namespace

bool may_take_turns(const Stmt& loop) {
  if (loop.apart || !std::ranges::all_of(loop.body, is_simple)) return false;
  Work work;
  for (const Stmt& stmt : loop.body) work.take(stmt);
  return work.operations >= kLongChain && work.is_apart(loop.var);
}

Interleaving::Interleaving(Builder& b) : b_(b), block_(b.GetInsertBlock()), before_(last()) {}

Instruction* Interleaving::last() const { return block_->empty() ? nullptr : &block_->back(); }

// Where a copy ends in another block, copies stay where they are.
void Interleaving::end_copy() {
  if (b_.GetInsertBlock() != block_) return forget();
  Copy& copy = copies_.emplace_back();
  for (auto at = before_ ? std::next(before_->getIterator()) : block_->getFirstNonPHIIt(); at != block_->end(); ++at) {
    places_[&*at] = {copies_.size() - 1, copy.instructions.size()};
    copy.instructions.push_back(&*at);
    if (at->mayWriteToMemory()) copy.written = copy.instructions.size();
  }
  before_ = last();
  if (copies_.size() == kTurns) finish();
}

void Interleaving::finish() {
  size_t longest = 0;
  for (const Copy& copy : copies_) longest = std::max(longest, copy.instructions.size());
  for (size_t end = 1; end <= longest; ++end) {
    for (size_t k = 0; k < copies_.size(); ++k) place(k, end);
  }
  before_ = last();
  forget();
}

void Interleaving::forget() {
  copies_.clear();
  places_.clear();
}

void Interleaving::place(size_t number, size_t end) {
  Copy& copy = copies_[number];
  while (copy.placed < std::min(end, copy.instructions.size())) {
    Instruction* const instruction = copy.instructions[copy.placed++];
    for (const llvm::Value* operand : instruction->operands()) {
      const auto found = places_.find(operand);
      if (found != places_.end()) place(found->second.copy, found->second.at + 1);
    }
    for (size_t earlier = 0; earlier < number && instruction->mayWriteToMemory(); ++earlier)
      place(earlier, copies_[earlier].written);
    instruction->moveBefore(*block_, block_->end());
  }
}

}  // namespace ingot::codegen
