// Checks that the infer columns of many ops share. Each failure is an Error that names the op, the attribute, the
// dimension and the extents.
#pragma once

#include <string>
#include <vector>

#include "aot/graph/op.h"

namespace ingot::ops {

std::string to_string(const std::vector<int64_t>& values);  // "[1, 2]"

void check_operand_count(const InferArgs& args, size_t count);
void check_scalar(const InferArgs& args, std::string_view what, const TensorType& type);
void check_same_dtype(const InferArgs& args, const TensorType& a, const TensorType& b);

// `values` of the attribute `what` has one entry for each of `rank` dimensions.
void check_one_each(const InferArgs& args, std::string_view what, const std::vector<int64_t>& values, int rank);

// Each is at most 2^46 in magnitude, which no dimension is longer than: so sums of a few stay in range.
void check_lengths(const InferArgs& args, std::string_view what, const std::vector<int64_t>& values);

// `dims` are distinct dimensions of a tensor of rank `rank`.
void check_dims(const InferArgs& args, std::string_view what, const std::vector<int64_t>& dims, int rank);

// Every value of `from` is one of `to`: the same type, or a wider one of its class (StableHLO, is_promotable).
bool is_promotable(DType from, DType to);

// The region `index` exists and takes `arguments` scalars.
const Block& check_scalar_region(const InferArgs& args, size_t index, size_t arguments);

// The first region combines n pairs of scalars. The first n operands are on its left side, the last n on its right:
// they may be of narrower types. A result of `shape` for each.
std::vector<TensorType> combined(const InferArgs& args, size_t n, const Shape& shape);

// The operands are n inputs of one shape, then n scalars to start from. Gives n.
size_t check_reduction_operands(const InferArgs& args);

// Region `index` returns values of these types.
void check_returns(const InferArgs& args, size_t index, std::span<const TensorType> types);

// What the branches return: regions without arguments that agree on their results.
std::vector<TensorType> branch_results(const InferArgs& args);

}  // namespace ingot::ops
