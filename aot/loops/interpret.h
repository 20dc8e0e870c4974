// Runs a kernel without a compiler: the meaning of every node, in the plainest way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "aot/loops/loop.h"

namespace ingot::loops {

// Runs one task. `buffers` has the start of each input and output in the kernel's order; scratch is made here, and
// filled with a pattern, since its contents are undefined at entry. Floats are computed in their own precision, one
// rounding for each primitive operation; math functions (exp, tanh, ...) in f64, then rounded. Reading or writing outside
// a buffer is a kBug error that names the buffer.
void interpret(const Kernel& kernel, std::span<std::byte* const> buffers, int64_t task);

// Every task in ascending order.
void interpret_all(const Kernel& kernel, std::span<std::byte* const> buffers);

}  // namespace ingot::loops
