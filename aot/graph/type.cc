#include "aot/graph/type.h"

#include <algorithm>
#include <array>

#include "aot/base/contains.h"
#include "aot/graph/quantization.h"

namespace ingot {
namespace {

constexpr std::array<DTypeInfo, kDTypeCount + 1> kDTypes = {{
    {"i1", 1, 1, DTypeClass::kBool, "BOOL"},
    {"i2", 2, 1, DTypeClass::kSigned, "I8"},
    {"i4", 4, 1, DTypeClass::kSigned, "I8"},
    {"i8", 8, 1, DTypeClass::kSigned, "I8"},
    {"i16", 16, 2, DTypeClass::kSigned, "I16"},
    {"i32", 32, 4, DTypeClass::kSigned, "I32"},
    {"i64", 64, 8, DTypeClass::kSigned, "I64"},
    {"ui2", 2, 1, DTypeClass::kUnsigned, "U8"},
    {"ui4", 4, 1, DTypeClass::kUnsigned, "U8"},
    {"ui8", 8, 1, DTypeClass::kUnsigned, "U8"},
    {"ui16", 16, 2, DTypeClass::kUnsigned, "U16"},
    {"ui32", 32, 4, DTypeClass::kUnsigned, "U32"},
    {"ui64", 64, 8, DTypeClass::kUnsigned, "U64"},
    {"f4E2M1FN", 4, 1, DTypeClass::kFloat, "U8"},
    {"f6E2M3FN", 6, 1, DTypeClass::kFloat, "U8"},
    {"f6E3M2FN", 6, 1, DTypeClass::kFloat, "U8"},
    {"f8E3M4", 8, 1, DTypeClass::kFloat, "U8"},
    {"f8E4M3", 8, 1, DTypeClass::kFloat, "U8"},
    {"f8E4M3B11FNUZ", 8, 1, DTypeClass::kFloat, "U8"},
    {"f8E4M3FN", 8, 1, DTypeClass::kFloat, "F8_E4M3"},
    {"f8E4M3FNUZ", 8, 1, DTypeClass::kFloat, "U8"},
    {"f8E5M2", 8, 1, DTypeClass::kFloat, "F8_E5M2"},
    {"f8E5M2FNUZ", 8, 1, DTypeClass::kFloat, "U8"},
    {"f8E8M0FNU", 8, 1, DTypeClass::kFloat, "U8"},
    {"f16", 16, 2, DTypeClass::kFloat, "F16"},
    {"bf16", 16, 2, DTypeClass::kFloat, "BF16"},
    {"f32", 32, 4, DTypeClass::kFloat, "F32"},
    {"f64", 64, 8, DTypeClass::kFloat, "F64"},
    {"complex<f32>", 64, 8, DTypeClass::kComplex, "C64"},
    {"complex<f64>", 128, 16, DTypeClass::kComplex, "C128"},
    {"token", 0, 0, DTypeClass::kNone, ""},
}};

std::string dim_text(int64_t dim) { return dim == kUnknownDim ? "?" : std::to_string(dim); }

}  // namespace

const DTypeInfo& info(DType dtype) { return kDTypes[static_cast<int>(dtype)]; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kDTypes[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  return count;
}

std::vector<int> long_dims(const Shape& shape) {
  std::vector<int> dims;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) dims.push_back(static_cast<int>(d));
  }
  return dims;
}

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

std::string to_string(DType dtype) { return std::string(info(dtype).name); }

bool TensorType::is_static() const { return !contains(shape, kUnknownDim); }

std::string to_string(const TensorType& type) {
  if (is_token(type.dtype)) return "!stablehlo.token";
  std::string text = "tensor<";
  for (int64_t dim : type.shape) text += dim_text(dim) + "x";
  text += type.quantization ? to_string(*type.quantization) : to_string(type.dtype);
  for (size_t i = 0; i < type.bounds.size(); ++i) {
    text += (i ? ", " : ", #stablehlo.bounds<") + dim_text(type.bounds[i]);
  }
  return text + (type.bounds.empty() ? ">" : ">>");
}

}  // namespace ingot
