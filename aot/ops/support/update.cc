#include "aot/ops/support/update.h"

#include "aot/graph/access_map.h"

namespace ingot::ops {
bool is_update(const Op& op) {
  if (op.def->root != KernelRoot::kUpdate) return false;
  const int64_t window = op.operand(1)->type.elements();
  return window > 0 && window < op.operand(0)->type.elements();
}

Value* without_unit_dims(const Value* value) {
  const Op* op = value->op;
  return op && changes_unit_dims_only(*op) ? op->operand(0) : nullptr;
}

Value* window_source(const Op& update) {
  Value* source = update.operand(1);
  while (Value* inner = without_unit_dims(source)) source = inner;
  return source;
}

}  // namespace ingot::ops
