#include "aot/frontend/stablehlo/xla_windows.h"

#include <algorithm>

#include "aot/analysis/walk.h"
#include "aot/ops/support/algebra.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/region.h"

namespace ingot {
namespace {

constexpr std::string_view kXlaAttr = "mhlo.num_partitions";

bool is_static(const Op& op) {
  return std::ranges::all_of(op.operands, [](const Value* value) { return value->type.is_static(); });
}

// Indices of windows that reach outside become ones from which all of the window is outside.
void drop_whole_windows(GraphBuilder& b, Op& op) {
  const int count = static_cast<int>(op.operands.size() / 2);
  const Shape &x = op.operand(0)->type.shape, &updates = op.operand(count + 1)->type.shape;
  const ops::IndexedDims dims = ops::read_scatter_dims(op.attrs());
  const std::vector<int64_t> kept = dims.kept_dims(static_cast<int>(x.size()));
  std::vector<int64_t> last, outside;
  bool is_wide = false;
  for (const int64_t dim : dims.index_map) {
    const auto window = std::ranges::find(kept, dim);
    const int64_t size = window == kept.end() ? 1 : updates[dims.window_dims[window - kept.begin()]];
    last.push_back(x[dim] - size);
    outside.push_back(x[dim]);
    is_wide |= size > 1;
  }
  if (!is_wide) return;
  Value* indices = op.operand(count);
  const Term start(b, ops::convert(b, indices, indices->type.dtype == DType::kI32 ? DType::kI32 : DType::kI64));
  const auto along = [&](const std::vector<int64_t>& values) {
    return Term(b, ops::along_index_vectors(b, dims, start, values));
  };
  const Term is_within = both(start >= start.like(0), start <= along(last));
  op.set_operand(count, where(is_within, start, along(outside)));
}

// The region (a, has_a, b, has_b) -> (has_b ? region(a, b) : a, has_a or has_b), of several a and b.
std::unique_ptr<Block> region_of_present(GraphBuilder& b, const Block& region) {
  const int count = static_cast<int>(region.arguments.size() / 2);
  auto block = std::make_unique<Block>();
  ValueMap map;
  for (int k = 0; k < 2 * count; ++k) {
    if (k == count) block->add_argument({DType::kI1, {}});
    map[region.argument(k)] = block->add_argument(region.argument(k)->type);
  }
  Value* has_b = block->add_argument({DType::kI1, {}});
  copy_ops(region, *block, map, false);
  GraphBuilder inner;
  inner.location = b.location;
  inner.at_end(*block);
  Values results;
  for (int k = 0; k < count; ++k) {
    Value* combined = region.terminator()->operand(k);
    if (const auto copy = map.find(combined); copy != map.end()) combined = copy->second;
    results.push_back(ops::select(inner, has_b, combined, block->argument(k)));
  }
  results.push_back(ops::binary(inner, kOr, block->argument(count), has_b));
  inner.create(kStablehloReturn, results);
  return block;
}

// Whether a window's start value changes nothing where it is combined once more.
bool is_start_neutral(const Op& op) {
  const OpDef* combined = op.operands.size() == 2 ? ops::binary_region_op(op.region()) : nullptr;
  if (!combined) return false;
  if (*combined == kMaximum || *combined == kMinimum || *combined == kAnd || *combined == kOr) return true;
  const LiteralRef start = constant_of(op.operand(1));
  return start && ((*combined == kAdd && *start == *splat(start->type, 0)) ||
                   (*combined == kMultiply && *start == *splat(start->type, 1)));
}

// What is no element, padding or a hole, gets a bool beside it that says so.
void leave_out_padding(GraphBuilder& b, Op& op) {
  const ops::Window window = ops::read_window(op.attrs());
  const auto is_full = [](const ops::WindowDim& dim) {
    return dim.low <= 0 && dim.high <= 0 && dim.base_dilation == 1;
  };
  if (std::ranges::all_of(window, is_full) || is_start_neutral(op)) return;
  const int count = static_cast<int>(op.operands.size() / 2);
  for (int k = 0; k < count; ++k) {
    if (op.region().argument(k)->type.dtype != op.operand(k)->type.dtype) return;  // which JAX does not write
  }
  Values operands = op.operands;
  const Shape& shape = op.operand(0)->type.shape;
  operands.insert(operands.begin() + count, ops::constant(b, {DType::kI1, shape}, 1));
  operands.push_back(ops::constant(b, {DType::kI1, {}}, 0));
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(region_of_present(b, op.region()));
  const Op* made = b.create(kReduceWindow, operands, op.attr_map, {}, std::move(regions));
  Values results = results_of(*made);
  results.pop_back();
  replace_op(&op, results);
}

}  // namespace

void follow_xla(Module& module) {
  const auto mark = module.attrs.find(kXlaAttr);
  if (mark == module.attrs.end()) return;
  module.attrs.erase(mark);
  GraphBuilder b;
  for_each_block(module, [&](Block& block) {
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op& op = **(at++);
      if (!is_static(op)) continue;
      b.before(op);
      b.location = op.location;
      if (op.is(kScatter)) drop_whole_windows(b, op);
      if (op.is(kReduceWindow)) leave_out_padding(b, op);
    }
  });
}

}  // namespace ingot
