// Copies of statements, of which none needs another: their instructions in turn.
//
// A processor looks about a hundred instructions ahead. In a chain as long as an elementary function's each waits for the
// one before, so it finds something to do only where the next copy's chain is near.
#pragma once

#include <unordered_map>
#include <vector>

#include "aot/codegen/emit_scalar.h"
#include "aot/loops/loop.h"

namespace ingot::codegen {

// Whether the copies of an unrolled loop are long chains that may take turns: they compute and store, and none loads what
// another stores.
bool may_take_turns(const loops::Stmt& loop);

// Of what is emitted from its construction on.
class Interleaving {
 public:
  explicit Interleaving(Builder& b);

  void end_copy();
  void finish();

 private:
  struct Copy {
    std::vector<llvm::Instruction*> instructions = {};
    size_t written = 0;  // the end of those of which the last writes to memory
    size_t placed = 0;
  };
  struct Place {
    size_t copy, at;
  };

  llvm::Instruction* last() const;
  void forget();
  // A copy's instructions up to `end`, behind what they need of other copies; each writes after all copies before it.
  void place(size_t number, size_t end);

  Builder& b_;
  llvm::BasicBlock* block_;
  llvm::Instruction* before_;  // the last one that is in its place; null: there is none
  std::vector<Copy> copies_;
  std::unordered_map<const llvm::Value*, Place> places_;
};

}  // namespace ingot::codegen
