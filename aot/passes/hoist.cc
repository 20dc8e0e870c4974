#include <algorithm>
#include <set>

#include "aot/analysis/regions.h"
#include "aot/analysis/walk.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

class Hoister {
 public:
  Hoister(Op& loop, const loops::Machine& machine) : loop_(loop), machine_(machine) {}

  bool run() {
    bool changed = false;
    for (auto& region : loop_.regions) {
      for (auto at = region->ops.begin(); at != region->ops.end();) {
        Op* op = (at++)->get();
        if (!is_invariant(*op)) continue;
        if (is_worth(*op)) {
          hoist(op);
          changed = true;
        } else {
          invariant_.insert(op);
        }
      }
    }
    return changed;
  }

 private:
  bool is_from_outside(const Value* value) const {
    return is_outside(value, loop_.region(0)) && is_outside(value, loop_.region(1));
  }

  // The same in every iteration.
  bool is_invariant(const Op& op) const {
    if (op.def->is_terminator || op.def->has_side_effect || op.def->root == KernelRoot::kNone || is_control_flow(op)) {
      return false;
    }
    return std::ranges::all_of(
               op.operands,
               [&](const Value* operand) { return is_from_outside(operand) || invariant_.contains(operand->op); }) &&
           std::ranges::all_of(op.regions, [&](const auto& region) {
             return std::ranges::all_of(captured_values(*region),
                                        [&](const Value* captured) { return is_from_outside(captured); });
           });
  }

  // Renamings and splats stay: a kernel inside takes them in. Elementwise ops go where the loop then reads no more
  // bytes than before; whatever sums up goes anyway.
  bool is_worth(const Op& op) const {
    if (op.def->only_moves() || op.operands.empty()) return false;
    if (op.def->root != KernelRoot::kElement) return true;
    std::set<const Value*> sources;
    collect_sources(op, sources);
    int64_t read = 0, made = 0;
    for (const Value* source : sources) read += is_from_outside(source) ? source->type.bytes() : 0;
    for (const auto& result : op.results) made += result->type.bytes();
    // What fills no more than a cache line is never worth computing again.
    return made <= std::max<int64_t>(read, machine_.line_bytes);
  }

  void collect_sources(const Op& op, std::set<const Value*>& sources) const {
    for (const Value* operand : op.operands) {
      if (constant_of(operand) || !sources.insert(operand).second) continue;
      if (!is_from_outside(operand)) collect_sources(*operand->op, sources);
    }
  }

  // What it is made of inside goes with it as a copy: others may still read that where it stands.
  void hoist(Op* op) {
    ValueMap map;
    copy_operands(*op, map);
    for (size_t i = 0; i < op->operands.size(); ++i) {
      if (const auto copy = map.find(op->operands[i]); copy != map.end())
        op->set_operand(static_cast<int>(i), copy->second);
    }
    move(op);
  }

  void copy_operands(const Op& op, ValueMap& map) {
    for (const Value* operand : op.operands) {
      if (is_from_outside(operand) || map.contains(operand)) continue;
      copy_operands(*operand->op, map);
      Op* copy = copy_op(*operand->op, *loop_.block, map);
      loop_.block->ops.splice(loop_.self, loop_.block->ops, copy->self);
    }
  }

  void move(Op* op) {
    loop_.block->ops.splice(loop_.self, op->block->ops, op->self);
    op->block = loop_.block;
  }

  Op& loop_;
  const loops::Machine& machine_;
  std::set<const Op*> invariant_;  // that stay
};

}  // namespace

bool hoist(Module& module, PassContext& context) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    for (auto& op : block.ops) {
      if (is_loop(*op)) changed |= Hoister(*op, context.target->machine).run();
    }
  });
  return changed;
}

}  // namespace ingot
