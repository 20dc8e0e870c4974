#include <algorithm>
#include <cmath>

#include "aot/ops/region.h"
#include "aot/passes/simplify_rules.h"

namespace ingot {
namespace {

struct Neutral {
  std::string_view op;
  double floats, bools;  // of float dtypes; of i1
};
constexpr Neutral kNeutral[] = {
    {"add", 0, 0},   {"multiply", 1, 1}, {"maximum", -INFINITY, 0}, {"minimum", INFINITY, 1},
    {"and", NAN, 1}, {"or", NAN, 0},
};

// The start value of a reduction and its region form a monoid, so this value may be left out (StableHLO, reduce).
bool is_neutral(const Value* start, std::string_view applied) {
  const DType dtype = start->type.dtype;
  for (const Neutral& row : kNeutral) {
    if (applied != row.op) continue;
    if (is_float(dtype)) return is_all(start, row.floats) || (row.floats == 0 && is_all(start, -0.0));
    if (is_bool(dtype)) return is_all(start, row.bools);
    return row.floats == std::floor(row.floats) && std::isfinite(row.floats) && is_all(start, row.floats);
  }
  return false;
}

Shape without(const Shape& shape, const std::vector<int64_t>& dims) {
  Shape result;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!std::count(dims.begin(), dims.end(), static_cast<int64_t>(d))) result.push_back(shape[d]);
  }
  return result;
}

Value* reduce_unit_dims(GraphBuilder& b, const Op& op) {
  if (op.operands.size() != 2) return nullptr;
  const Shape& shape = op.operand(0)->type.shape;
  const std::vector<int64_t> dims = op.attrs().ints("dimensions");
  std::vector<int64_t> unit, larger;
  for (int64_t dim : dims) (shape[dim] == 1 ? unit : larger).push_back(dim);
  if (larger.empty()) {
    if (!is_neutral(op.operand(1), ops::binary_region_op(op.region()))) return nullptr;
    return ops::reshape(b, op.operand(0), op.result()->type.shape);
  }
  if (unit.empty()) return nullptr;
  // Unit dimensions go by a reshape; the others are renumbered.
  Value* squeezed = ops::reshape(b, op.operand(0), without(shape, unit));
  for (int64_t& dim : larger) dim -= std::count_if(unit.begin(), unit.end(), [&](int64_t u) { return u < dim; });
  AttrMap attrs = op.attr_map;
  attrs["dimensions"] = larger;
  ValueMap map;
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(copy_block(op.region(), map));
  return b
      .create("stablehlo.reduce", {squeezed, op.operand(1)}, std::move(attrs), {op.result()->type}, std::move(regions))
      ->result();
}

constexpr SimplifyRule kRules[] = {
    {"stablehlo.reduce", "reduce over unit dimensions == reshape, when the start value is neutral; they go from others",
     reduce_unit_dims},
};

}  // namespace

std::span<const SimplifyRule> reduction_rules() { return kRules; }

}  // namespace ingot
