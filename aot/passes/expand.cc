#include "aot/analysis/walk.h"
#include "aot/graph/builder.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

// Whether the op is gone; one with a kernel of its own may stay.
bool expand(Op& op, GraphBuilder& b) {
  if (!op.def->expand) return false;
  b.before(op);
  b.location = op.location;
  ExpandArgs args{b, op};
  const Values made = op.def->expand(args);
  if (made.empty() && op.def->root != KernelRoot::kNone) return false;
  replace_op(&op, made);
  return true;
}

bool expand(Block& block, GraphBuilder& b) {
  bool changed = false;
  for (auto at = block.ops.begin(); at != block.ops.end();) {
    Op& op = **at;
    for (const auto& region : op.regions) changed |= expand(*region, b);
    const bool is_first = at == block.ops.begin();
    const auto before = is_first ? at : std::prev(at);
    if (!expand(op, b)) {
      ++at;
      continue;
    }
    // What it is made of may expand as well.
    at = is_first ? block.ops.begin() : std::next(before);
    changed = true;
  }
  return changed;
}

}  // namespace

bool expand(Module& module, PassContext&) {
  GraphBuilder b;
  bool changed = false;
  for (const auto& function : module.functions) changed |= expand(function->body, b);
  return changed;
}

}  // namespace ingot
