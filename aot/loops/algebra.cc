#include "aot/loops/algebra.h"

namespace ingot::loops {

DType signed_of(DType dtype) {
  switch (info(dtype).bits) {
    case 1:
      return DType::kI1;
    case 2:
      return DType::kI2;
    case 4:
      return DType::kI4;
    case 8:
      return DType::kI8;
    case 16:
      return DType::kI16;
    case 32:
      return DType::kI32;
    default:
      return DType::kI64;
  }
}

DType unsigned_of(DType dtype) {
  const DType as_signed = signed_of(dtype);
  if (as_signed == DType::kI1) return as_signed;
  return static_cast<DType>(static_cast<int>(as_signed) + static_cast<int>(DType::kUI2) - static_cast<int>(DType::kI2));
}

Scalar copy_sign(const Scalar& x, const Scalar& y) {
  const DType bits = signed_of(x.dtype());
  const uint64_t sign_bit = uint64_t{1} << (info(x.dtype()).bits - 1);
  const Scalar magnitude = abs(x).bitcast(bits);
  const Scalar sign = y.bitcast(bits) & y.bitcast(bits).bits(sign_bit);
  return (magnitude | sign).bitcast(x.dtype());
}

}  // namespace ingot::loops
