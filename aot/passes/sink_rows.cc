#include <algorithm>
#include <set>

#include "aot/analysis/regions.h"
#include "aot/analysis/trip_count.h"
#include "aot/analysis/walk.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

// What a tensor is made of before a loop, op by op, where nobody else reads more than slices of it.
class Making {
 public:
  Making(const Value* tensor, const Op& reader) {
    ops_.insert(&reader);
    follow(tensor);
    for (const Value* source : sources_) source_bytes_ += constant_of(source) ? 0 : source->type.bytes();
  }

  bool is_of_less() const { return !order_.empty() && source_bytes_ < order_.back()->result()->type.bytes(); }

  // Makes it again before `reader`, which takes it from there.
  void sink_before(Op& reader) const {
    ValueMap map;
    for (const Op* op : order_) {
      const Op* copy = copy_op(*op, *reader.block, map);
      reader.block->ops.splice(reader.self, reader.block->ops, copy->self);
    }
    reader.set_operand(0, map.at(reader.operand(0)));
  }

 private:
  void follow(const Value* value) {
    Op* op = value->op;
    if (ops_.contains(op)) return;
    const auto is_own = [&](const Value::Use& use) { return ops_.contains(use.op) || use.op->is(kSlice); };
    const bool is_sunk = op && op->def->root == KernelRoot::kElement && op->regions.empty() && !constant_of(value) &&
                         (op->def->is_elementwise || op->def->only_moves()) && !op->def->moves_by_data &&
                         std::ranges::all_of(value->uses, is_own);
    if (!is_sunk) {
      sources_.insert(value);
      return;
    }
    ops_.insert(op);
    for (const Value* operand : op->operands) follow(operand);
    order_.push_back(op);
  }

  std::set<const Op*> ops_;
  std::set<const Value*> sources_;
  std::vector<const Op*> order_;  // each after those that it reads
  int64_t source_bytes_ = 0;
};

bool sink_rows(Op& loop) {
  const std::optional<int64_t> trips = trip_count(loop);
  if (!trips || *trips < 2) return false;
  bool changed = false;
  Block& body = loop.region(1);
  for (auto& op : body.ops) {
    if (!op->is(kDynamicSlice) || !is_outside(op->operand(0), body)) continue;
    if (*trips * op->result()->type.bytes() > op->operand(0)->type.bytes()) continue;
    const Making making(op->operand(0), *op);
    if (!making.is_of_less()) continue;
    making.sink_before(*op);
    changed = true;
  }
  return changed;
}

}  // namespace

bool sink_rows(Module& module, PassContext&) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    bool is_sunk = false;
    for (auto& op : block.ops) {
      if (is_loop(*op)) is_sunk |= sink_rows(*op);
    }
    if (is_sunk) erase_unread(block);
    changed |= is_sunk;
  });
  return changed;
}

}  // namespace ingot
