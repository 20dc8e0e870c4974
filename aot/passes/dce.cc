#include "aot/passes/pass.h"
#include "aot/passes/walk.h"

namespace ingot {

bool dce(Module& module, PassContext&) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    // Backwards, so that an op is seen after all that read it.
    for (auto at = block.ops.end(); at != block.ops.begin();) {
      Op* op = std::prev(at)->get();
      if (op->def->is_terminator || op->def->has_side_effect || op->has_uses()) {
        --at;
      } else {
        erase(op);
        changed = true;
      }
    }
  });
  return changed;
}

}  // namespace ingot
