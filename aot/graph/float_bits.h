// Numbers as texts write them: float bits, and integers checked against a width.
#pragma once

#include <cstdint>
#include <optional>

#include "aot/graph/literal.h"

namespace ingot {

inline bool fits_bits(uint64_t value, int bits) { return bits == 64 || value >> bits == 0; }

// A float of `dtype` from its bits (in the low info(dtype).bits), and back. NaN payloads of f16 and bf16 are canonical.
double float_from_bits(DType dtype, uint64_t bits);
uint64_t float_bits(DType dtype, double value);

// `value`, negated when `negative`, as an integer of `dtype`, if it fits. As in MLIR a signed type also takes the
// values of its unsigned twin (255 : i8 is -1); i1 takes 0 and 1, and -1 for 1.
std::optional<int64_t> checked_integer(DType dtype, uint64_t value, bool negative);

}  // namespace ingot
