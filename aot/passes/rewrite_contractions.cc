#include "aot/passes/rewrite_contractions.h"

#include "aot/analysis/walk.h"
#include "aot/ops/ops.h"

namespace ingot {

bool rewrite_contractions(Module& module, const std::function<Value*(GraphBuilder& b, Op& op)>& rewrite) {
  bool changed = false;
  GraphBuilder b;
  for_each_block(module, [&](Block& block) {
    std::vector<Op*> contractions;
    for (const auto& op : block.ops) {
      if (op->is(kDotGeneral) || op->is(kConvolution)) contractions.push_back(op.get());
    }
    for (Op* op : contractions) {
      b.before(*op);
      b.location = op->location;
      Value* const made = rewrite(b, *op);
      if (made) replace_op(op, {made});
      changed |= made != nullptr;
    }
    if (!contractions.empty()) erase_unread(block);
  });
  return changed;
}

void add_result(const Op& op, Value* value, const std::string& name) {
  op.block->terminator()->add_operand(value);
  op.block->parent_function->results.push_back({value->type, {{attributes::kName, name}}});
}

}  // namespace ingot
