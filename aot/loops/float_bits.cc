#include "aot/loops/float_bits.h"

#include "aot/base/error.h"

namespace ingot::loops {
namespace {

constexpr DType kU16 = DType::kUI16, kU32 = DType::kUI32;
constexpr uint64_t kF32Infinity = 0x7F800000;
constexpr uint64_t kBiasGap = uint64_t{127 - 15} << 23;  // between the exponents of f32 and f16

// f32, a value of f16, as f16's bits.
Scalar f16_bits(const Scalar& x) {
  const Scalar u = x.bitcast(kU32);
  const Scalar magnitude = u & 0x7FFFFFFF;
  const Scalar denormal = (abs(x) * 0x1p24).convert(kU32);
  const Scalar normal = (magnitude - kBiasGap) >> 13;
  const Scalar special = ((magnitude >> 13) & 0x3FF) | 0x7C00;
  const Scalar finite = where(magnitude < 0x38800000, denormal, normal);  // below 2^-14
  return (where(magnitude >= kF32Infinity, special, finite) | ((u >> 16) & 0x8000)).convert(kU16);
}

Scalar f16_value(const Scalar& bits) {
  const Scalar u = bits.convert(kU32);
  const Scalar magnitude = u & 0x7FFF;
  const Scalar denormal = (magnitude.convert(DType::kF32) * 0x1p-24).bitcast(kU32);
  const Scalar normal = (magnitude << 13) + kBiasGap;
  const Scalar special = (magnitude << 13) | kF32Infinity;
  const Scalar finite = where(magnitude < 0x400, denormal, normal);
  return (where(magnitude >= 0x7C00, special, finite) | ((u & 0x8000) << 16)).bitcast(DType::kF32);
}

}  // namespace

FloatFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return {5, 10};
    case DType::kBF16:
      return {8, 7};
    case DType::kF32:
      return {8, 23};
    case DType::kF64:
      return {11, 52};
    default:
      throw_bug("format_of: " + to_string(dtype) + " is not a float type");
  }
}

Scalar bits_of(const Scalar& value, DType dtype) {
  if (dtype == DType::kF16) return f16_bits(value);
  if (dtype == DType::kBF16) return (value.bitcast(kU32) >> 16).convert(kU16);
  return is_bool(dtype) || is_unsigned(dtype) ? value : value.bitcast(unsigned_of(dtype));
}

Scalar value_of_bits(const Scalar& bits, DType dtype) {
  if (dtype == DType::kF16) return f16_value(bits);
  if (dtype == DType::kBF16) return (bits.convert(kU32) << 16).bitcast(DType::kF32);
  return is_bool(dtype) || is_unsigned(dtype) ? bits : bits.bitcast(dtype);
}

}  // namespace ingot::loops
