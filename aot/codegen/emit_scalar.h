// LLVM instructions for one operation of the loops form, on scalars and vectors alike. Each follows loops/scalar.cc bit
// for bit (NaN payloads aside).
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "aot/loops/loop.h"

namespace ingot::codegen {

using Builder = llvm::IRBuilder<>;

// How a dtype is held in registers and in buffers; `lanes` 1 gives a scalar. Registers hold integers of the dtype's own
// width (i4 is LLVM's i4); buffers hold whole bytes, f16 and bf16 as i16.
llvm::Type* register_type(llvm::LLVMContext& context, DType dtype, int lanes);
llvm::Type* memory_type(llvm::LLVMContext& context, DType dtype, int lanes);
llvm::Value* from_memory(Builder& b, DType dtype, llvm::Value* value);  // buffer's dtype; gives register_dtype(dtype)
llvm::Value* to_memory(Builder& b, DType dtype, llvm::Value* value);

// op(args), where the last argument has `dtype`. Only primitive operations.
llvm::Value* emit_apply(Builder& b, loops::ScalarOp op, DType dtype, llvm::ArrayRef<llvm::Value*> args);
llvm::Value* emit_convert(Builder& b, DType from, DType to, llvm::Value* value);
llvm::Value* emit_round(Builder& b, DType dtype, DType to, llvm::Value* value);

// How the names of functions begin that the kernels of a module share.
inline constexpr std::string_view kSharedFunctions = "ingot.";

// The exact remainder of floating point division (C's fmod), one lane; such a function.
llvm::Value* emit_float_remainder(Builder& b, llvm::Value* x, llvm::Value* y);

}  // namespace ingot::codegen
