// The split columns of many ops: what stands for an op on complex numbers when each is two real ones.
#pragma once

#include "aot/ops/support/algebra.h"

namespace ingot::ops {

// The op on the real parts and the op on the imaginary ones, with the same real operands: moves, sums.
std::vector<Parts> split_each(SplitArgs& args);

// The op with two operands, results and arguments of its regions in the place of each complex one.
std::vector<Parts> split_doubled(SplitArgs& args);
// `arrange` changes each region once it is split.
std::vector<Parts> split_doubled(SplitArgs& args, const std::function<void(Block&)>& arrange);

// A reduction, or a scatter: doubled, or, where the region adds or overwrites, which is done to each part by itself,
// two of them.
std::vector<Parts> split_combining(SplitArgs& args);

// An op that is linear in each of its two operands, both complex.
std::vector<Parts> split_product(SplitArgs& args);

// The types of the results, those of complex ones as of a part.
std::vector<TensorType> part_types(const Op& op);

}  // namespace ingot::ops
