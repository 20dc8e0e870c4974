// The bits of floats, f16 and bf16 among them although registers hold those as f32.
#pragma once

#include "aot/loops/algebra.h"

namespace ingot::loops {

// sign | exponent | mantissa; the exponent is biased by 2^(exponent_bits - 1) - 1.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
FloatFormat format_of(DType dtype);

// A value of `dtype` in register precision as an unsigned integer as wide as the dtype, and back. Integers and i1 too.
Scalar bits_of(const Scalar& value, DType dtype);
Scalar value_of_bits(const Scalar& bits, DType dtype);

}  // namespace ingot::loops
