// Element types and tensor types.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

enum class DType : uint8_t {
  kI1,
  kI2,
  kI4,
  kI8,
  kI16,
  kI32,
  kI64,  // i1 is a truth value; the others are signed, two's complement
  kUI2,
  kUI4,
  kUI8,
  kUI16,
  kUI32,
  kUI64,
  kF4E2M1FN,  // narrow floats: narrow_float.h
  kF6E2M3FN,
  kF6E3M2FN,
  kF8E3M4,
  kF8E4M3,
  kF8E4M3B11FNUZ,
  kF8E4M3FN,
  kF8E4M3FNUZ,
  kF8E5M2,
  kF8E5M2FNUZ,
  kF8E8M0FNU,
  kF16,
  kBF16,
  kF32,
  kF64,
  kC64,
  kC128,   // complex<f32>, complex<f64>: the real part, then the imaginary one
  kToken,  // of a `!stablehlo.token`, which orders effects and holds no data: not an element type
};
inline constexpr int kDTypeCount = 30;  // element types

enum class DTypeClass : uint8_t { kBool, kSigned, kUnsigned, kFloat, kComplex, kNone };

// One row per element type.
struct DTypeInfo {
  std::string_view name;  // StableHLO's: "f32", "ui8", "i1", "complex<f32>"
  int bits;               // of the value
  int bytes;              // of one element in a buffer; i1 and what is narrower than a byte take a whole byte each
  DTypeClass dtype_class;
  // "F32"; i2, i4 are kept as I8, ui2, ui4 and floats without a name as U8; "" where there is none.
  std::string_view safetensors;
};

const DTypeInfo& info(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);
inline bool is_float(DType d) { return info(d).dtype_class == DTypeClass::kFloat; }
inline bool is_complex(DType d) { return info(d).dtype_class == DTypeClass::kComplex; }
inline bool is_narrow_float(DType d) { return d >= DType::kF4E2M1FN && d <= DType::kF8E8M0FNU; }  // f4, f6 and f8
inline bool is_signed(DType d) { return info(d).dtype_class == DTypeClass::kSigned; }
inline bool is_unsigned(DType d) { return info(d).dtype_class == DTypeClass::kUnsigned; }
inline bool is_token(DType d) { return d == DType::kToken; }
inline bool is_bool(DType d) { return info(d).dtype_class == DTypeClass::kBool; }
inline bool is_integer(DType d) { return is_signed(d) || is_unsigned(d); }  // i1 is not one

// complex<f32> is made of f32, complex<f64> of f64; any other dtype of itself.
inline DType part_of(DType d) { return d == DType::kC64 ? DType::kF32 : d == DType::kC128 ? DType::kF64 : d; }
inline DType complex_of(DType part) { return part == DType::kF32 ? DType::kC64 : DType::kC128; }

using Shape = std::vector<int64_t>;
inline constexpr int64_t kUnknownDim = -1;  // written `?`

// Product of the dimensions; 1 for a scalar.
int64_t element_count(const Shape& shape);

// Dimensions longer than 1, ascending.
std::vector<int> long_dims(const Shape& shape);

// Row-major strides in elements.
Shape row_major_strides(const Shape& shape);

struct Quantization;

// A dense row-major tensor: element type and shape. Rank 0 is a scalar. Dimensions may be unknown until refine_shapes;
// below the graph none is.
struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;
  Shape bounds = {};  // `#stablehlo.bounds<4, ?>`: the most that each dimension may be, or kUnknownDim; empty: not said

  // What a quantized tensor keeps for its values, which are of `dtype`, the expressed type (quantization.h); else null.
  // Equal ones are the same object.
  std::shared_ptr<const Quantization> quantization = nullptr;

  bool is_static() const;  // no dimension is unknown
  int rank() const { return static_cast<int>(shape.size()); }
  int64_t elements() const { return element_count(shape); }
  int64_t bytes() const { return elements() * info(dtype).bytes; }
  bool operator==(const TensorType&) const = default;
};

// "tensor<2x?xf32>", "tensor<2x!quant.uniform<i8:f32, 0.1:-30>>", "!stablehlo.token"
std::string to_string(const TensorType& type);
std::string to_string(DType dtype);

// The greatest value of an integer dtype that an int64_t can hold.
inline int64_t greatest_integer(DType dtype) {
  const int bits = info(dtype).bits - (is_unsigned(dtype) ? 0 : 1);
  return bits >= 63 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << bits) - 1;
}

}  // namespace ingot
