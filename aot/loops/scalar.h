// What one scalar operation means, on bit patterns. The interpreter and the builder's constant folding use it; machine
// code must agree with it bit for bit on primitive operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "aot/loops/loop.h"

namespace ingot::loops {

// A value's bits, zero-extended from info(dtype).bits.
using Bits = uint64_t;

Bits bits_of_float(DType dtype, double value);  // f32 or f64, rounded to nearest even
Bits bits_of_int(DType dtype, int64_t value);   // integer or i1: wraps
double float_of_bits(DType dtype, Bits bits);   // f32 or f64
int64_t int_of_bits(DType dtype, Bits bits);    // integer or i1, sign-extended where signed; ui64 as bits

// op(args), where the last argument has `dtype`. Floats are computed in their own precision.
Bits apply_scalar(ScalarOp op, DType dtype, std::span<const Bits> args);

// ExprKind::kConvert and ExprKind::kRound.
Bits convert_scalar(DType from, DType to, Bits bits);
Bits round_scalar(DType dtype, DType to, Bits bits);

// One element of a buffer of `dtype`, as bits of register_dtype(dtype), and back.
Bits load_scalar(DType dtype, const std::byte* from);
void store_scalar(DType dtype, Bits bits, std::byte* to);

}  // namespace ingot::loops
