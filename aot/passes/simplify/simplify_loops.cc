#include <algorithm>
#include <set>

#include "aot/analysis/regions.h"
#include "aot/analysis/walk.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

// Every use of carried value `i`, within the loop and behind it, becomes a use of what stands for it.
void replace_carried(Op& loop, int i, Value* inside_condition, Value* inside_body, Value* behind) {
  replace_all_uses(loop.region(0).argument(i), inside_condition);
  replace_all_uses(loop.region(1).argument(i), inside_body);
  replace_all_uses(loop.result(i), behind);
}

bool is_carried_read(const Op& loop, int i) {
  return !loop.region(0).argument(i)->uses.empty() || !loop.region(1).argument(i)->uses.empty() ||
         !loop.result(i)->uses.empty();
}

// What the body returns unchanged is a value from outside.
bool free_constant_carried(Op& loop) {
  bool changed = false;
  for (int i = 0; i < std::ssize(loop.operands); ++i) {
    Value* next = loop.region(1).terminator()->operand(i);
    Value* start = loop.operand(i);
    if (next != loop.region(1).argument(i) && next != start) continue;
    // The loop's own use of the argument, as what comes next, is no reader.
    set_next(loop, i, start);
    if (!is_carried_read(loop, i)) continue;
    replace_carried(loop, i, start, start, start);
    changed = true;
  }
  return changed;
}

// Whether carried values i and j go on alike as long as they are equal: by one value, or by equal ops of them.
bool go_on_alike(const Op& loop, int i, int j) {
  const Block& body = loop.region(1);
  const Value* a = body.terminator()->operand(i);
  const Value* b = body.terminator()->operand(j);
  if (a == b) return true;
  if (!a->op || !b->op || a->op->def != b->op->def || a->index != b->index || !a->op->regions.empty() ||
      a->op->attr_map != b->op->attr_map || a->type != b->type)
    return false;
  return std::ranges::equal(a->op->operands, b->op->operands, [&](const Value* x, const Value* y) {
    return x == y || (x == body.argument(i) && y == body.argument(j));
  });
}

// Two that start and go on alike are one.
bool merge_equal_carried(Op& loop) {
  bool changed = false;
  for (int i = 0; i < std::ssize(loop.operands); ++i) {
    for (int j = i + 1; j < std::ssize(loop.operands); ++j) {
      if (loop.operand(i) != loop.operand(j) || !go_on_alike(loop, i, j) || !is_carried_read(loop, j)) continue;
      set_next(loop, j, loop.region(1).terminator()->operand(i));
      replace_carried(loop, j, loop.region(0).argument(i), loop.region(1).argument(i), loop.result(i));
      changed = true;
    }
  }
  return changed;
}

// The carried values that the condition, a reader behind the loop, or another such value depends on.
std::vector<bool> needed_carried(const Op& loop) {
  Block& condition = loop.region(0);
  Block& body = loop.region(1);
  std::vector<bool> needed(loop.operands.size());
  std::set<const Op*> seen;
  const auto need = [&](const auto& self, const Value* value) -> void {
    if (value->block == &body || value->block == &condition) {
      if (needed[value->index]) return;
      needed[value->index] = true;
      return self(self, body.terminator()->operand(value->index));
    }
    const Op* op = value->op;
    if (!op || (op->block != &body && op->block != &condition) || !seen.insert(op).second) return;
    for (const Value* operand : op->operands) self(self, operand);
    for (const auto& region : op->regions) {
      for (const Value* captured : captured_values(*region)) self(self, captured);
    }
  };
  need(need, condition.terminator()->operand(0));
  for (const auto& result : loop.results) {
    if (!result->uses.empty() && !needed[result->index]) need(need, body.argument(result->index));
  }
  for (const auto& op : body.ops) {
    if (!op->def->has_side_effect) continue;
    for (const Value* operand : op->operands) need(need, operand);
  }
  return needed;
}

bool drop_unneeded_carried(Op* loop) {
  const std::vector<bool> needed = needed_carried(*loop);
  const auto count = std::ranges::count(needed, true);
  if (count == std::ssize(needed)) return false;
  // Ops that only they feed are left without readers, and go first.
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) set_next(*loop, static_cast<int>(i), loop->operand(static_cast<int>(i)));
  }
  for (auto& region : loop->regions) erase_unread(*region);
  keep_results(loop, needed);
  return true;
}

}  // namespace

bool simplify_loops(Module& module, PassContext&) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op* op = (at++)->get();
      if (!is_loop(*op)) continue;
      changed |= free_constant_carried(*op);
      changed |= merge_equal_carried(*op);
      changed |= drop_unneeded_carried(op);
    }
  });
  return changed;
}

}  // namespace ingot
