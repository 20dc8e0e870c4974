// Tensors as programs take and give them.
#pragma once

#include "aot/graph/float_bits.h"
#include "aot/graph/quantization.h"

namespace ingot {

// A quantized tensor's integers, a narrow float's bits; other tensors as they are.
inline RefTensor in_memory(const RefTensor& tensor) {
  if (tensor.type.quantization) return to_storage(tensor);
  if (!is_narrow_float(tensor.type.dtype)) return tensor;
  RefTensor bits({info(tensor.type.dtype).bits == 4 ? DType::kUI4 : DType::kUI8, tensor.type.shape});
  for (int64_t k = 0; k < bits.elements(); ++k) {
    bits.i[k] = static_cast<int64_t>(float_bits(tensor.type.dtype, tensor.f[k]));
  }
  return bits;
}

}  // namespace ingot
