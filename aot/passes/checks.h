// What may be asked of a module between passes. Each check gives "" when it holds, else one sentence that names the
// first op for which it does not. That the graph is whole (aot/graph/verify.h) holds always.
#pragma once

#include <string>

#include "aot/graph/op.h"

namespace ingot {

// No func.call and no composite is left.
std::string no_calls(const Module& module);

// No op that has to expand is left: one with an `expand` column and without a kernel of its own.
std::string no_expandable_ops(const Module& module);

// No value is complex.
std::string no_complex_values(const Module& module);

// No value is a token.
std::string no_tokens(const Module& module);

// No value is quantized.
std::string no_quantized_types(const Module& module);

// No value is of a float type that kernels do not have.
std::string no_narrow_floats(const Module& module);

// No argument and no result of an op has an unknown dimension.
std::string every_dimension_is_known(const Module& module);

std::string no_barriers(const Module& module);

// Functions are lists of ingot.kernel ops, constants that are no splats, control flow whose regions are such lists, and
// the return. Kernels capture nothing.
std::string every_op_is_a_kernel(const Module& module);
std::string every_op_is_a_kernel(const Block& block);

}  // namespace ingot
