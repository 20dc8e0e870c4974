// A loop that holds no other, while its body is emitted: pointers that walk through memory beside its variable.
//
// They stand for LLVM's loop strength reduction, which finds them too, in a third of all the time that LLVM takes.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "aot/codegen/emit_memory.h"

namespace ingot::codegen {

class InnermostLoop {
 public:
  // `before` ends with the jump to `body`, where the variable is first `lower`. `takes_index`: loads and stores add one.
  InnermostLoop(const Indexing& at, loops::VarId var, llvm::Value* lower, llvm::BasicBlock* before,
                llvm::BasicBlock* body, bool takes_index);

  // The body gives this variable a value.
  void defines(loops::VarId var) { defined_.insert(var); }

  // buffers[buffer] + index, in bytes, where the index moves with the loop's variable and no address mode can scale it;
  // else null. No variable of the index is a constant or a vector.
  llvm::Value* address(loops::BufferId buffer, const loops::Index& index);

  // factor x the loop's variable, counted up where no address mode scales by it; else null.
  llvm::Value* multiple(loops::VarId var, int64_t factor);

  // At the end of the body, where the variable goes on by `step`.
  void close(Builder& b, int64_t step);

 private:
  struct Pointer {
    loops::BufferId buffer;
    loops::Index start;  // without the loop's variable
    int64_t factor;      // bytes for each of its values
    llvm::PHINode* phi;
  };

  llvm::PHINode* add_phi(llvm::Type* type, llvm::Value* first);
  void use_multiples(int64_t factor);

  const loops::Kernel& kernel_;
  Builder before_;
  Indexing outside_;
  loops::VarId var_;
  llvm::Value* lower_;
  llvm::BasicBlock* body_;
  bool takes_index_;
  std::set<loops::VarId> defined_;
  std::map<int64_t, llvm::PHINode*> multiples_;  // by factor
  std::vector<Pointer> pointers_;
};

}  // namespace ingot::codegen
