// The total order of floats: -NaN < -infinity < ... < -0 < +0 < ... < infinity < NaN, as integers that order like it.
#pragma once

#include <bit>
#include <cstdint>

#include "aot/loops/algebra.h"

namespace ingot::ops {

// Sign and magnitude become two's complement. Its own inverse.
inline int64_t total_order_key(int64_t bits) { return bits ^ ((bits >> 63) & INT64_MAX); }
inline int64_t total_order_key(double x) { return total_order_key(std::bit_cast<int64_t>(x)); }

// Likewise of a float's bits as a signed integer.
inline loops::Scalar total_order_key(const loops::Scalar& bits) {
  const int width = info(bits.dtype()).bits;
  return bits ^ (shift_right_arithmetic(bits, width - 1) & bits.bits(~uint64_t{0} >> (65 - width)));
}

}  // namespace ingot::ops
