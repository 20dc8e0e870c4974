// Type promotion and broadcasting between tensors, as PyTorch does them.
#pragma once

#include "aot/frontend/trace/trace.h"

namespace ingot {

// The dtype of an operation on these tensors. Classes: truth value < integer < float. The class is the highest among
// all; within it the widest dtype of tensors with dimensions decides, else of scalars, else (numbers alone) i64 or f32.
DType promoted_dtype(std::initializer_list<const Tensor*> tensors);

// The dtype that holds both, of tensors with dimensions.
DType wider_dtype(DType a, DType b);

// The shape that all shapes stretch to, aligned at the last dimension; an error naming `function` where two sizes
// differ and neither is 1.
Shape broadcast_shape(std::initializer_list<const Tensor*> tensors, const char* function);
Shape broadcast_shape(const Shape& a, const Shape& b, const char* function);

// The tensor's value in that dtype and shape. Within a Scope.
Value* broadcast(const Tensor& tensor, DType dtype, const Shape& shape);

// Two tensors brought to one dtype and shape.
struct Pair {
  Value* a;
  Value* b;
};
Pair broadcast_pair(const Tensor& a, const Tensor& b, const char* function);

// A float tensor's value; an integer one as f32 (as PyTorch's float functions take it).
Value* float_value(const Tensor& tensor);

}  // namespace ingot
