// Two bf16 by two bf16, added to a sum in f32, as processors do it by one instruction; numbers below 2^-126 in magnitude
// are zeros, as factors and as sums.
#pragma once

#include "aot/loops/scalar.h"

namespace ingot::loops {

// One product after the other, each added by a fused multiply-add: vdpbf16ps of AVX512-BF16.
Bits dot_pairs(Bits a, Bits b, Bits c);

// The sum of both products, added to c; each of the two sums is rounded to odd: its last bit is 1 where it is not exact.
// BFDOT of ARMv8.6-A.
Bits dot_pairs_to_odd(Bits a, Bits b, Bits c);

// Sums of dot_pairs below it, before they are rounded, are zeros: what is rounded to 2^-126 is not.
inline constexpr double kLeastPairSum = 0x1p-126 - 0x1p-151;

// Bits of an f64 that an f32 has no room for.
inline constexpr int kBitsBelowF32 = 29;

}  // namespace ingot::loops
