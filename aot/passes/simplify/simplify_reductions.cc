#include <algorithm>
#include <cmath>

#include "aot/base/contains.h"
#include "aot/ops/support/region.h"
#include "aot/ops/support/window.h"
#include "aot/passes/simplify/simplify_rules.h"

namespace ingot {
namespace {

struct Neutral {
  const OpDef* op;
  double floats, bools;  // of float dtypes; of i1
};
constexpr Neutral kNeutral[] = {
    {&kAdd, 0, 0},   {&kMultiply, 1, 1}, {&kMaximum, -INFINITY, 0}, {&kMinimum, INFINITY, 1},
    {&kAnd, NAN, 1}, {&kOr, NAN, 0},
};

// The start value of a reduction and its region form a monoid, so this value may be left out (StableHLO, reduce).
bool is_neutral(const Value* start, const OpDef* applied) {
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
    if (!contains(dims, static_cast<int64_t>(d))) result.push_back(shape[d]);
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
  return b.create(kReduce, {squeezed, op.operand(1)}, std::move(attrs), {op.result()->type}, std::move(regions))
      ->result();
}

// The gradient of a mean over windows side by side: of each window, all but one element are holes.
Value* reduce_window_of_spread(GraphBuilder& b, const Op& op) {
  const Op* pad = op.operands.size() == 2 ? made_by(op.operand(0), kPad) : nullptr;
  if (!pad || !is_all(pad->operand(1), 0) || ops::binary_region_op(op.region()) != &kAdd ||
      !is_neutral(op.operand(1), &kAdd)) {
    return nullptr;
  }
  const ops::Window window = ops::read_window(op.attrs());
  const auto low = pad->attrs().ints("edge_padding_low"), high = pad->attrs().ints("edge_padding_high");
  const auto interior = pad->attrs().ints("interior_padding");
  Shape repeated;
  std::vector<int64_t> kept;
  for (size_t d = 0; d < window.size(); ++d) {
    const ops::WindowDim& dim = window[d];
    const int64_t holes = dim.size - 1;
    if (dim.stride != 1 || dim.dilation != 1 || dim.base_dilation != 1 || interior[d] != holes ||
        dim.low + low[d] != holes || dim.high + high[d] != holes) {
      return nullptr;
    }
    kept.push_back(static_cast<int64_t>(repeated.size()));
    repeated.push_back(pad->operand(0)->type.shape[d]);
    if (dim.size > 1) repeated.push_back(dim.size);
  }
  Value* spread = ops::broadcast_in_dim(b, pad->operand(0), repeated, kept);
  return ops::reshape(b, spread, op.result()->type.shape);
}

// Windows of fewer elements are combined as they are.
constexpr int64_t kFewestToDouble = 32;

// Windows that begin, or end, with the tensor: after round k each element is combined with 2^k - 1 before it, or after.
Value* reduce_window_that_runs(GraphBuilder& b, const Op& op) {
  if (op.operands.size() != 2) return nullptr;
  const OpDef* applied = ops::binary_region_op(op.region());
  const ops::Window window = ops::read_window(op.attrs());
  Value* x = op.operand(0);
  const auto is_wide = [](const ops::WindowDim& dim) { return !dim.is_trivial(); };
  if (!applied || std::count_if(window.begin(), window.end(), is_wide) != 1 || !is_neutral(op.operand(1), applied)) {
    return nullptr;
  }
  const auto wide = std::find_if(window.begin(), window.end(), is_wide);
  const size_t along = wide - window.begin();
  const int64_t extent = x->type.shape[along];
  const bool is_forward = wide->low == wide->size - 1 && wide->high == 0;
  const bool is_backward = wide->high == wide->size - 1 && wide->low == 0;
  if (wide->stride != 1 || wide->dilation != 1 || wide->base_dilation != 1 || !(is_forward || is_backward) ||
      wide->size < extent || extent < kFewestToDouble) {
    return nullptr;
  }
  for (int64_t step = 1; step < extent; step *= 2) {
    Shape before(window.size()), after(window.size());
    before[along] = is_forward ? step : -step;
    after[along] = -before[along];
    Value* moved = ops::pad(b, x, op.operand(1), before, after, Shape(window.size()));
    x = is_forward ? ops::binary(b, *applied, moved, x) : ops::binary(b, *applied, x, moved);
  }
  return x;
}

constexpr SimplifyRule kReductionRules[] = {
    {&kReduce, "reduce over unit dimensions == reshape, when the start value is neutral; they go from others",
     reduce_unit_dims},
    {&kReduceWindow, "windows' sums over elements as far apart as windows are wide == each element repeated",
     reduce_window_of_spread},
    {&kReduceWindow, "running sums, products and extremes == rounds in which twice as many are combined",
     reduce_window_that_runs},
};

}  // namespace

std::span<const SimplifyRule> reduction_rules() { return kReductionRules; }

}  // namespace ingot
