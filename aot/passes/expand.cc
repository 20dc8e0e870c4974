#include "aot/graph/builder.h"
#include "aot/passes/pass.h"
#include "aot/passes/walk.h"

namespace ingot {
namespace {

void expand(Op& op, GraphBuilder& b) {
  b.before(op);
  b.location = op.location;
  ExpandArgs args{b, op};
  replace_op(&op, op.def->expand(args));
}

bool expand(Block& block, GraphBuilder& b) {
  bool changed = false;
  for (auto at = block.ops.begin(); at != block.ops.end();) {
    Op& op = **at;
    for (const auto& region : op.regions) changed |= expand(*region, b);
    if (!op.def->expand) {
      ++at;
      continue;
    }
    // What it is made of may expand as well.
    const bool is_first = at == block.ops.begin();
    const auto before = is_first ? at : std::prev(at);
    expand(op, b);
    at = is_first ? block.ops.begin() : std::next(before);
    changed = true;
  }
  return changed;
}

}  // namespace

bool expand(Module& module, PassContext& context) {
  GraphBuilder b(context.ops);
  bool changed = false;
  for (const auto& function : module.functions) changed |= expand(function->body, b);
  return changed;
}

}  // namespace ingot
