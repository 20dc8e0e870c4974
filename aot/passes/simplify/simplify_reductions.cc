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

constexpr int64_t kFewPlaces = 4;  // fewer than a vector has lanes

// x[..., i]; of what nobody else reads it is computed for this place alone.
Value* place_of(GraphBuilder& b, Value* x, int64_t i) {
  const int64_t last = static_cast<int64_t>(x->type.shape.size()) - 1;
  const Shape shape(x->type.shape.begin(), x->type.shape.end() - 1);
  const Op* op = x->op;
  const auto has_shape = [&](const Value* value) { return value->type.shape == x->type.shape; };
  if (op && op->def->is_elementwise && op->results.size() == 1 && x->uses.size() == 1 &&
      std::ranges::all_of(op->operands, has_shape)) {
    Values places;
    for (Value* operand : op->operands) places.push_back(place_of(b, operand, i));
    return b.make(*op->def, places, op->attr_map, {{x->type.dtype, shape}});
  }
  if (op && op->is(kConcatenate) && op->attrs().integer("dimension") == last) {
    int piece = 0;
    for (; i >= op->operand(piece)->type.shape[last]; ++piece) i -= op->operand(piece)->type.shape[last];
    return place_of(b, op->operand(piece), i);
  }
  if (op && op->is(kSlice) && op->operand(0)->type.shape[last] == x->type.shape[last]) {
    const auto without_last = [&](std::string_view name) {
      std::vector<int64_t> values = op->attrs().ints(name);
      values.pop_back();
      return values;
    };
    return ops::slice(b, place_of(b, op->operand(0), i), without_last("start_indices"), without_last("limit_indices"),
                      without_last("strides"));
  }
  Shape start(last + 1, 0), limit = x->type.shape;
  start[last] = i;
  limit[last] = i + 1;
  return ops::reshape(b, ops::slice(b, x, start, limit, Shape(last + 1, 1)), shape);
}

// Of a last dimension that fills no vector, like the parts of complex numbers.
Value* reduce_few_places(GraphBuilder& b, const Op& op) {
  if (op.operands.size() != 2 || op.operand(0)->type.elements() == 0) return nullptr;
  Value* x = op.operand(0);
  const OpDef* applied = ops::binary_region_op(op.region());
  const int64_t last = static_cast<int64_t>(x->type.shape.size()) - 1;
  if (op.attrs().ints("dimensions") != std::vector<int64_t>{last} || x->type.shape[last] > kFewPlaces || !applied ||
      !is_neutral(op.operand(1), applied)) {
    return nullptr;
  }
  Value* combined = place_of(b, x, 0);
  for (int64_t i = 1; i < x->type.shape[last]; ++i) combined = ops::binary(b, *applied, combined, place_of(b, x, i));
  return combined;
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
    {&kReduce, "reduce over a last dimension of a few places == their sum, product or extreme", reduce_few_places},
    {&kReduceWindow, "windows' sums over elements as far apart as windows are wide == each element repeated",
     reduce_window_of_spread},
    {&kReduceWindow, "running sums, products and extremes == rounds in which twice as many are combined",
     reduce_window_that_runs},
};

}  // namespace

std::span<const SimplifyRule> reduction_rules() { return kReductionRules; }

}  // namespace ingot
