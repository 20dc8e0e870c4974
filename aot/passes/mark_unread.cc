#include "aot/analysis/regions.h"
#include "aot/analysis/stacks.h"
#include "aot/analysis/walk.h"
#include "aot/graph/attributes.h"
#include "aot/ops/support/build.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

// Whether nobody sees what a carried value starts as: the iterations overwrite all of its rows, and read none on the way.
bool is_start_unread(const Op& loop, const Counter& counter, int carried) {
  const Op* update = row_update(loop, counter, carried);
  return update && update->result()->uses.size() == 1 && loop.region(1).argument(carried)->uses.size() == 1 &&
         loop.region(0).argument(carried)->uses.empty();
}

bool mark_starts(Op& loop) {
  const std::optional<Counter> counter = counter_of(loop);
  if (!counter) return false;
  bool changed = false;
  GraphBuilder b;
  b.before(loop);
  b.location = loop.location;
  for (int i = 0; i < std::ssize(loop.operands); ++i) {
    const Value* start = loop.operand(i);
    if (!constant_of(start) || is_unread(*start->op) || !is_start_unread(loop, *counter, i)) continue;
    Value* unread = ops::constant(b, start->type, 0);
    unread->op->attr_map[attributes::kUnread] = UnitAttr{};
    loop.set_operand(i, unread);
    changed = true;
  }
  return changed;
}

}  // namespace

bool mark_unread(Module& module, PassContext&) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    bool is_marked = false;
    for (auto& op : block.ops) {
      if (is_loop(*op)) is_marked |= mark_starts(*op);
    }
    if (is_marked) erase_unread(block);
    changed |= is_marked;
  });
  return changed;
}

}  // namespace ingot
