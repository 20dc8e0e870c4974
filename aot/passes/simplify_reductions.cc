#include <algorithm>
#include <cmath>

#include "aot/passes/simplify_rules.h"

namespace ingot {
namespace {

// The scalar op that a region `(x, y) -> op(x, y)` applies, or null for any other region.
const Op* region_op(const Block& region) {
  if (region.arguments.size() != 2 || region.ops.size() != 2 || region.terminator()->operands.size() != 1)
    return nullptr;
  const Op* op = region.ops.front().get();
  if (region.terminator()->operand(0) != op->result() || op->operands.size() != 2) return nullptr;
  const Value* x = region.argument(0);
  const Value* y = region.argument(1);
  const bool in_order = op->operand(0) == x && op->operand(1) == y;
  const bool swapped = op->operand(0) == y && op->operand(1) == x && op->def->is_commutative;
  return in_order || swapped ? op : nullptr;
}

struct Neutral {
  std::string_view op;
  double floats, bools;  // of float dtypes; of i1
};
constexpr Neutral kNeutral[] = {
    {"stablehlo.add", 0, 0},
    {"stablehlo.multiply", 1, 1},
    {"stablehlo.maximum", -INFINITY, 0},
    {"stablehlo.minimum", INFINITY, 1},
    {"stablehlo.and", NAN, 1},
    {"stablehlo.or", NAN, 0},
};

// The start value of a reduction and its region form a monoid, so this value may be left out (StableHLO, reduce).
bool is_neutral(const Value* start, const Op& applied) {
  const DType dtype = start->type.dtype;
  for (const Neutral& row : kNeutral) {
    if (!applied.is(row.op)) continue;
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
    const Op* applied = region_op(op.region());
    if (!applied || !is_neutral(op.operand(1), *applied)) return nullptr;
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
