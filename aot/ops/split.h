// The split columns of many ops: what stands for an op on complex numbers when each is two real ones.
#pragma once

#include "aot/ops/algebra.h"

namespace ingot::ops {

// The op on the real parts and the op on the imaginary ones, with the same real operands: moves, sums.
std::vector<Parts> split_each(SplitArgs& args);

// The op with two operands, results and arguments of its regions in the place of each complex one.
std::vector<Parts> split_doubled(SplitArgs& args);

// The types of the results, those of complex ones as of a part.
std::vector<TensorType> part_types(const Op& op);

}  // namespace ingot::ops
