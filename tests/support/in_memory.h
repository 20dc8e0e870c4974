// Tensors as programs take and give them.
#pragma once

#include "aot/graph/float_bits.h"
#include "aot/graph/narrow_float.h"
#include "aot/graph/quantization.h"

namespace ingot {

// A quantized tensor's integers, a narrow float's bits, a complex number's two parts; other tensors as they are.
inline RefTensor in_memory(const RefTensor& tensor) {
  const DType dtype = tensor.type.dtype;
  if (tensor.type.quantization) return to_storage(tensor);
  if (tensor.is_complex()) {
    RefTensor parts = tensor;
    parts.type.dtype = part_of(dtype);
    parts.type.shape.push_back(2);
    return parts;
  }
  if (!is_narrow_float(dtype)) return tensor;
  RefTensor bits({storage_of(dtype), tensor.type.shape});
  for (int64_t k = 0; k < bits.elements(); ++k) bits.i[k] = static_cast<int64_t>(float_bits(dtype, tensor.f[k]));
  return bits;
}

// The tensor of this type that lies in memory so.
inline RefTensor from_memory(const TensorType& type, const RefTensor& memory) {
  if (type.quantization) return from_storage(type, memory);
  RefTensor tensor(type);
  tensor.f = memory.f;
  tensor.i = memory.i;
  if (!is_narrow_float(type.dtype)) return tensor;
  tensor.i.clear();
  for (const int64_t bits : memory.i) tensor.f.push_back(float_from_bits(type.dtype, static_cast<uint64_t>(bits)));
  return tensor;
}

}  // namespace ingot
