#include <algorithm>

#include "aot/ops/support/dimension_numbers.h"
#include "aot/ops/support/region.h"
#include "aot/passes/simplify/simplify_rules.h"

namespace ingot {
namespace {

using Ints = std::vector<int64_t>;

// What a scatter's region makes of an element and its update, for whole tensors; null for regions of another form.
Value* combine(GraphBuilder& b, const Block& region, Value* x, Value* update) {
  if (ops::returned_argument(region) == 1) return update;
  const OpDef* applied = ops::binary_region_op(region);
  return applied ? ops::binary(b, *applied, x, update) : nullptr;
}

// Each row of the operand (its batch dimensions) gets one update, to one element: the gradient of picking one element
// of a row, as in a cross-entropy. Elementwise, it can share a kernel with what reads it.
// An index out of range equals none.
Value* scatter_one_of_each_row(GraphBuilder& b, const Op& op) {
  if (op.operands.size() != 3) return nullptr;
  const ops::IndexedDims dims = ops::read_scatter_dims(op.attrs());
  Value* x = op.operand(0);
  Value* indices = op.operand(1);
  Value* updates = op.operand(2);
  const int rank = x->type.rank();
  const Ints& batch = dims.operand_batch;
  if (!dims.window_dims.empty() || dims.index_map.size() != 1 || static_cast<int>(batch.size()) != rank - 1)
    return nullptr;
  if (!std::is_sorted(batch.begin(), batch.end()) ||
      !std::is_sorted(dims.indices_batch.begin(), dims.indices_batch.end())) {
    return nullptr;
  }
  Shape rows;
  for (int64_t dim : batch) rows.push_back(x->type.shape[dim]);
  if (updates->type.elements() != element_count(rows) || indices->type.elements() != element_count(rows))
    return nullptr;
  const int64_t picked = dims.index_map[0];
  if (info(indices->type.dtype).bits < 32) return nullptr;  // positions might not fit
  if (ops::returned_argument(op.region()) != 1 && !ops::binary_region_op(op.region())) return nullptr;

  const auto along_rows = [&](Value* value) {
    return ops::broadcast_in_dim(b, ops::reshape(b, value, rows), x->type.shape, batch);
  };
  Value* position = ops::iota(b, {indices->type.dtype, x->type.shape}, picked);
  Value* is_picked = ops::compare(b, "EQ", position, along_rows(indices));
  return ops::select(b, is_picked, combine(b, op.region(), x, along_rows(updates)), x);
}

constexpr SimplifyRule kScatterRules[] = {
    {&kScatter, "scatter of one element to each row == select(iota == index, f(x, update), x)",
     scatter_one_of_each_row},
};

}  // namespace

std::span<const SimplifyRule> scatter_rules() { return kScatterRules; }

}  // namespace ingot
