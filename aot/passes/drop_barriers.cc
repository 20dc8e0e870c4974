#include "aot/analysis/walk.h"
#include "aot/ops/ops.h"
#include "aot/passes/pass.h"

namespace ingot {

bool drop_barriers(Module& module, PassContext&) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op* op = (at++)->get();
      if (!op->is(kOptimizationBarrier)) continue;
      replace_op(op, Values(op->operands));
      changed = true;
    }
  });
  return changed;
}

}  // namespace ingot
