#include "aot/analysis/walk.h"
#include "aot/passes/pass.h"

namespace ingot {

bool dce(Module& module, PassContext&) {
  bool changed = false;
  for_each_block(module, [&](Block& block) { changed |= erase_unread(block); });
  return changed;
}

}  // namespace ingot
