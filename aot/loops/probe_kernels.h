// Kernels that measure a machine: how fast it multiplies and adds, and how fast each level of its memory is.
#pragma once

#include "aot/loops/loop.h"

namespace ingot::loops {

// Independent chains of multiply-adds on registers alone: `chains` of them hide the latency. x: dtype[lanes],
// y: dtype[chains * lanes] out; 2 * chains * lanes * trips flops, where `trips` is a multiple of 4.
Kernel multiply_adds(DType dtype, int lanes, int64_t chains, int64_t trips);

// Adds one array to another, `repeats` times. x: f32[elements], y: f32[elements] out, where `elements` is a multiple of
// 4 * lanes. Half of the bytes in use are written.
Kernel add_arrays(int lanes, int64_t elements, int64_t repeats);

// Adds up an array, `repeats` times. x: f32[elements], y: f32[8 * lanes] out, where `elements` is a multiple of 8 * lanes.
Kernel read_array(int lanes, int64_t elements, int64_t repeats);

// Fills an array, `repeats` times. x: f32[lanes], y: f32[elements] out, where `elements` is a multiple of 8 * lanes.
Kernel fill_array(int lanes, int64_t elements, int64_t repeats);

}  // namespace ingot::loops
