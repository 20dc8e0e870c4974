// Floats of eight bits and fewer, as StableHLO's specification names them: one row a type says all there is to know.
#pragma once

#include <cstdint>

#include "aot/graph/type.h"

namespace ingot {

// What the bit patterns at the ends mean.
enum class FloatExtremes : uint8_t {
  kIeee,     // the greatest exponent is for infinities and NaNs: f8E5M2
  kFinite,   // every pattern is a number: f4E2M1FN. What is too large becomes the greatest, NaN becomes -0
  kAllOnes,  // finite, but a NaN where all bits but the sign are ones: f8E4M3FN. What is too large becomes NaN
  kNoMinus,  // finite, but the pattern of -0 is the NaN: f8E5M2FNUZ. What is too large becomes NaN
  kPowers,   // powers of two alone, with neither sign nor zero; all ones is the NaN: f8E8M0FNU
};

// A value is (-1)^sign * 2^(exponent - bias) * 1.mantissa, or, where the exponent's bits are 0 (unless kPowers),
// (-1)^sign * 2^(1 - bias) * 0.mantissa.
struct NarrowFloat {
  DType dtype;
  int exponent_bits, mantissa_bits, bias;
  FloatExtremes extremes;

  bool has_sign() const { return extremes != FloatExtremes::kPowers; }
  uint32_t magnitude_mask() const { return (uint32_t{1} << (exponent_bits + mantissa_bits)) - 1; }
  uint32_t sign_bit() const { return has_sign() ? magnitude_mask() + 1 : 0; }
  // The greatest finite value's bits, without its sign.
  uint32_t greatest() const;
  // The bits that what is above it, or infinite, becomes, and that NaN becomes.
  uint32_t overflow() const;
  uint32_t nan() const;
};

const NarrowFloat& narrow_float(DType dtype);  // the row of a dtype with is_narrow_float

// What its bits lie in memory as.
inline DType storage_of(DType narrow) { return info(narrow).bits == 4 ? DType::kUI4 : DType::kUI8; }

double narrow_float_value(const NarrowFloat& format, uint32_t bits);

// The nearest value's bits; of two that are as near the even ones. Zeros without a sign and powers below the least
// become the least, negative numbers where there are none NaN.
uint32_t narrow_float_bits(const NarrowFloat& format, double value);

}  // namespace ingot
