#include "aot/ops/support/update.h"

#include <algorithm>

#include "aot/ops/ops.h"

namespace ingot::ops {
namespace {

Shape long_extents(const Shape& shape) {
  Shape extents;
  std::ranges::copy_if(shape, std::back_inserter(extents), [](int64_t extent) { return extent != 1; });
  return extents;
}

}  // namespace

bool is_update(const Op& op) {
  if (!op.is(kDynamicUpdateSlice)) return false;
  const int64_t window = op.operand(1)->type.elements();
  return window > 0 && window < op.operand(0)->type.elements();
}

Value* without_unit_dims(const Value* value) {
  const Op* op = value->op;
  if (!op || !(op->is(kReshape) || op->is(kBroadcastInDim))) return nullptr;
  if (long_extents(op->operand(0)->type.shape) != long_extents(value->type.shape)) return nullptr;
  if (op->is(kBroadcastInDim) && !std::ranges::is_sorted(op->attrs().ints("broadcast_dimensions"))) {
    return nullptr;
  }
  return op->operand(0);
}

Value* window_source(const Op& update) {
  Value* source = update.operand(1);
  while (Value* inner = without_unit_dims(source)) source = inner;
  return source;
}

}  // namespace ingot::ops
