#include "aot/ops/support/infer.h"

#include <fmt/format.h>

#include "aot/base/join.h"

namespace ingot::ops {

std::string to_string(const std::vector<int64_t>& values) { return fmt::format("[{}]", join(values, ", ")); }

void check_operand_count(const InferArgs& args, size_t count) {
  if (args.operands.size() == count) return;
  args.fail(fmt::format("takes {} operand{}, has {}", count, count == 1 ? "" : "s", args.operands.size()));
}

void check_scalar(const InferArgs& args, std::string_view what, const TensorType& type) {
  if (type.rank() != 0) args.fail(fmt::format("{} must be a scalar, not {}", what, ingot::to_string(type)));
}

void check_same_dtype(const InferArgs& args, const TensorType& a, const TensorType& b) {
  if (a.dtype == b.dtype) return;
  args.fail(fmt::format("the operands {} and {} must have one element type", ingot::to_string(a), ingot::to_string(b)));
}

void check_one_each(const InferArgs& args, std::string_view what, const std::vector<int64_t>& values, int rank) {
  if (static_cast<int>(values.size()) == rank) return;
  args.fail(fmt::format("{} = {} must have one entry for each of {} dimensions", what, to_string(values), rank));
}

void check_lengths(const InferArgs& args, std::string_view what, const std::vector<int64_t>& values) {
  constexpr int64_t kLongest = int64_t{1} << 46;
  for (const int64_t value : values) {
    if (value >= -kLongest && value <= kLongest) continue;
    args.fail(
        fmt::format("{} = {}: {} is longer than any tensor can be, {}", what, to_string(values), value, kLongest));
  }
}

void check_dims(const InferArgs& args, std::string_view what, const std::vector<int64_t>& dims, int rank) {
  std::vector<bool> seen(rank);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank) {
      args.fail(
          fmt::format("{} = {}: there is no dimension {} in a tensor of rank {}", what, to_string(dims), dim, rank));
    }
    if (seen[dim]) args.fail(fmt::format("{} = {}: dimension {} appears twice", what, to_string(dims), dim));
    seen[dim] = true;
  }
}

bool is_promotable(DType from, DType to) {
  if (from == to) return true;
  return info(from).dtype_class == info(to).dtype_class && info(from).bits < info(to).bits;
}

const Block& check_scalar_region(const InferArgs& args, size_t index, size_t arguments) {
  if (args.regions.size() <= index) args.fail(fmt::format("needs {} regions, has {}", index + 1, args.regions.size()));
  const Block& region = *args.regions[index];
  if (region.arguments.size() != arguments) {
    args.fail(fmt::format("the region must take {} arguments, not {}", arguments, region.arguments.size()));
  }
  for (const auto& argument : region.arguments) check_scalar(args, "a region's argument", argument->type);
  for (const Value* value : region.terminator()->operands) check_scalar(args, "a region's result", value->type);
  return region;
}

std::vector<TensorType> combined(const InferArgs& args, size_t n, const Shape& shape) {
  const Block& region = check_scalar_region(args, 0, 2 * n);
  const Values& given = region.terminator()->operands;
  if (given.size() != n) args.fail(fmt::format("the region must give {} results", n));
  std::vector<TensorType> results;
  for (size_t k = 0; k < n; ++k) {
    const DType dtype = given[k]->type.dtype;
    for (const size_t argument : {k, n + k}) {
      if (region.arguments[argument]->type.dtype == dtype) continue;
      args.fail(fmt::format("argument {} of the region is {}, its result {} {}", argument,
                            ingot::to_string(region.arguments[argument]->type), k, ingot::to_string(given[k]->type)));
    }
    for (const size_t operand : {k, args.operands.size() - n + k}) {
      if (is_promotable(args.operands[operand].dtype, dtype)) continue;
      args.fail(fmt::format("operand {}, {}, does not fit into the region's {}", operand,
                            ingot::to_string(args.operands[operand]), ingot::to_string(given[k]->type)));
    }
    results.push_back({dtype, shape});
  }
  return results;
}

size_t check_reduction_operands(const InferArgs& args) {
  const size_t n = args.operands.size() / 2;
  if (n == 0 || args.operands.size() != 2 * n) {
    args.fail(fmt::format("takes n inputs and n start values, not {} operands", args.operands.size()));
  }
  const TensorType& x = args.operands[0];
  for (size_t k = 0; k < n; ++k) {
    if (args.operands[k].shape != x.shape) {
      args.fail(fmt::format("the inputs {} and {} must have one shape", ingot::to_string(x),
                            ingot::to_string(args.operands[k])));
    }
    check_scalar(args, "a start value", args.operands[n + k]);
  }
  return n;
}

void check_returns(const InferArgs& args, size_t index, std::span<const TensorType> types) {
  const Values& returned = args.regions[index]->terminator()->operands;
  if (returned.size() != types.size()) {
    args.fail(fmt::format("region {} must return {} values, not {}", index, types.size(), returned.size()));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (returned[i]->type == types[i]) continue;
    args.fail(fmt::format("value {} that region {} returns must be {}, not {}", i, index, ingot::to_string(types[i]),
                          ingot::to_string(returned[i]->type)));
  }
}

std::vector<TensorType> branch_results(const InferArgs& args) {
  std::vector<TensorType> types;
  for (const Value* value : args.regions[0]->terminator()->operands) types.push_back(value->type);
  for (size_t i = 0; i < args.regions.size(); ++i) {
    if (!args.regions[i]->arguments.empty()) args.fail("a branch takes no arguments; it may read any value above it");
    check_returns(args, i, types);
  }
  return types;
}

}  // namespace ingot::ops
