#include "aot/passes/pass.h"

namespace ingot {

bool canonicalize(Module& module, PassContext& context) {
  bool changed = false;
  for (bool again = true; again;) {
    again = fold_constants(module, context);
    again |= simplify(module, context);
    again |= simplify_branches(module, context);
    again |= simplify_loops(module, context);
    again |= unroll_loops(module, context);
    again |= hoist(module, context);
    again |= recompute_stacks(module, context);
    again |= cse(module, context);
    again |= dce(module, context);
    changed |= again;
  }
  return changed;
}

}  // namespace ingot
