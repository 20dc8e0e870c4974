// Quantized tensors: integers of a storage type that stand for floats of an expressed type,
//   value = (integer - zero point) * scale,
// with one scale and zero point for the tensor, or one for each index of a dimension ("per axis").
//
// A quantized TensorType has the expressed type as its dtype and says the rest here. So everything that asks for
// element types sees floats, which is what StableHLO's specification computes with: it dequantizes, computes, and
// quantizes the result.
#pragma once

#include <string>
#include <vector>

#include "aot/graph/tensor.h"

namespace ingot {

struct Quantization {
  DType storage = DType::kI8;
  DType expressed = DType::kF32;
  int64_t storage_min = -128, storage_max = 127;
  int axis = -1;  // the dimension along which scales differ; -1: one for the tensor
  std::vector<double> scales = {};
  std::vector<int64_t> zero_points = {};  // as many as there are scales

  bool is_per_axis() const { return axis >= 0; }
  auto operator<=>(const Quantization&) const = default;
};
using QuantizationRef = std::shared_ptr<const Quantization>;

// The one object that is equal to it, for as long as the process lives.
QuantizationRef interned(Quantization quantization);

// "!quant.uniform<i8<-127:127>:f32:0, {0.1:-30,0.5:-20}>"
std::string to_string(const Quantization& quantization);

// The least and greatest value of an integer dtype of at most 32 bits.
int64_t least_of(DType dtype);
int64_t greatest_of(DType dtype);

inline bool is_quantized(const TensorType& type) { return type.quantization != nullptr; }

TensorType storage_type(const TensorType& type);    // a quantized tensor's integers
TensorType expressed_type(const TensorType& type);  // what is not quantized stays as it is

// Why its scales cannot lie along the dimension that they name: "dimension 0 has 2 elements, but there are 3 scales";
// "" if they can.
std::string scales_misfit(const TensorType& type);

// Whether integers of one mean the same as those of the other: equal but for the axis, as moves change it.
bool same_meaning(const Quantization& a, const Quantization& b);

// Brings each value to the nearest that the type's integers stand for, as the specification's `quantize` does in the
// expressed type. What is such a value already stays exactly.
void quantize_in_place(RefTensor& tensor);

// The integers of a quantized tensor's values, and back.
RefTensor to_storage(const RefTensor& tensor);
RefTensor from_storage(const TensorType& type, const RefTensor& integers);

}  // namespace ingot
