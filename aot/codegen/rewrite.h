// Ways to put something else in the place of instructions.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include "aot/codegen/emit_scalar.h"

namespace ingot::codegen {

// What `make` gives for each instruction that is meant; it inserts before that one.
void replace_instructions(llvm::Module& module, bool (*is_meant)(const llvm::Instruction&),
                          llvm::Value* (*make)(llvm::Instruction&));

// A call of a function that the kernels of a module share; its body is emitted where there is none yet. Behind
// kSharedFunctions it is called `name`.
llvm::Value* call_shared(Builder& b, std::string_view name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments,
                         llvm::function_ref<void(llvm::Function&)> emit_body);

}  // namespace ingot::codegen
