// Loads and stores: contiguous vectors, masks, gathers and scatters.
#pragma once

#include <functional>

#include "aot/codegen/emit_scalar.h"

namespace ingot::codegen {

// What LLVM may assume of an access to one buffer: the buffer's own alias scope, and the scopes of all buffers that
// never share its memory. Null where the parameter's `noalias` says it all.
struct AliasScopes {
  llvm::MDNode* own = nullptr;
  llvm::MDNode* apart = nullptr;
};

class InnermostLoop;

// The values of a kernel's variables at one place. An affine index over them becomes an address or a value.
struct Indexing {
  Builder& b;
  const loops::Kernel& kernel;
  std::vector<llvm::Value*>& vars;     // one for each kernel variable; of its dtype and lanes. `lane`: null
  std::vector<llvm::Value*>& buffers;  // the start of each
  std::vector<AliasScopes>& scopes;    // one for each buffer
  InnermostLoop* loop = nullptr;       // that this place lies in, if any

  llvm::Value* scalar(const loops::Index& index) const;  // i64; the index has no lanes
  llvm::Value* value(const loops::Index& index, DType dtype, int lanes) const;
  // Of one lane: `lane` takes that value in every vector variable.
  llvm::Value* address(loops::BufferId buffer, const loops::Index& index, int lane = 0) const;

  // In bytes, of terms that are no constants; null where there are none.
  llvm::Value* offset(const loops::Index& moving, int64_t bytes, int lane) const;
};

// What an ExprKind::kLoad gives, of register_dtype. `mask` may be null.
llvm::Value* emit_load(const Indexing& at, const loops::ExprNode& load, llvm::Value* mask);
void emit_store(const Indexing& at, loops::BufferId buffer, const loops::Index& index, llvm::Value* value,
                llvm::Value* mask);

// Runs `then` in a block of its own that is entered when `condition` (i1) holds.
void emit_guarded(Builder& b, llvm::Value* condition, const std::function<void()>& then);

}  // namespace ingot::codegen
