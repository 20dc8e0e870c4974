// Element types and tensor types.
#pragma once

#include <cstdint>
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
  kF16,
  kBF16,
  kF32,
  kF64,
  kC64,
  kC128,   // complex<f32>, complex<f64>: the real part, then the imaginary one
  kToken,  // of a `!stablehlo.token`, which orders effects and holds no data: not an element type
};
inline constexpr int kDTypeCount = 19;  // element types

enum class DTypeClass : uint8_t { kBool, kSigned, kUnsigned, kFloat, kComplex, kNone };

// One row per element type.
struct DTypeInfo {
  std::string_view name;  // StableHLO's: "f32", "ui8", "i1", "complex<f32>"
  int bits;               // of the value
  int bytes;              // of one element in a buffer; sub-byte integers and i1 take a whole byte each
  DTypeClass dtype_class;
  std::string_view safetensors;  // "F32"; i2, i4 and ui2, ui4 are kept as I8 and U8; "" where there is none
};

const DTypeInfo& info(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);
inline bool is_float(DType d) { return info(d).dtype_class == DTypeClass::kFloat; }
inline bool is_complex(DType d) { return info(d).dtype_class == DTypeClass::kComplex; }
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

// Row-major strides in elements.
Shape row_major_strides(const Shape& shape);

// A dense row-major tensor: element type and shape. Rank 0 is a scalar. Dimensions may be unknown until refine_shapes;
// below the graph none is.
struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;
  Shape bounds = {};  // `#stablehlo.bounds<4, ?>`: the most that each dimension may be, or kUnknownDim; empty: not said

  bool is_static() const;  // no dimension is unknown
  int rank() const { return static_cast<int>(shape.size()); }
  int64_t elements() const { return element_count(shape); }
  int64_t bytes() const { return elements() * info(dtype).bytes; }
  bool operator==(const TensorType&) const = default;
};

std::string to_string(const TensorType& type);  // "tensor<2x?xf32>", "!stablehlo.token"
std::string to_string(DType dtype);

}  // namespace ingot
