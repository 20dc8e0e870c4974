#include <algorithm>
#include <set>

#include "aot/analysis/regions.h"
#include "aot/analysis/stacks.h"
#include "aot/analysis/walk.h"
#include "aot/base/contains.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/update.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

constexpr int kCachedFetches = 3;  // from an outer cache, in the time of one from memory

// A result of a loop of which every iteration writes its own row.
struct WrittenStack {
  Value* result;
  Value* row;  // in the body
};

std::vector<WrittenStack> stacks_of(const Op& loop) {
  const std::optional<Counter> counter = counter_of(loop);
  if (!counter) return {};
  std::vector<WrittenStack> stacks;
  for (int i = 0; i < std::ssize(loop.operands); ++i) {
    const Op* update = row_update(loop, *counter, i);
    if (!update || loop.region(1).argument(i)->uses.size() != 1) continue;
    if (row_order(loop, *counter, update->operand(2)) != RowOrder::kForward) continue;
    stacks.push_back({loop.result(i), ops::window_source(*update)});
  }
  return stacks;
}

bool reads_a_row(const Op& reader, const Value* stack) {
  return reader.is(kDynamicSlice) && reader.operand(0) == stack &&
         reader.result()->type.shape == row_shape(stack->type.shape);
}

// How a row follows from the rows of other stacks by a few cheap ops.
class Recipe {
 public:
  Recipe(const std::vector<WrittenStack>& stacks, const std::set<const Value*>& gone, const WrittenStack& wanted,
         int flops_max)
      : stacks_(stacks), gone_(gone), wanted_(wanted), flops_max_(flops_max) {
    is_found_ = follow(wanted.row) && !rows_.empty();
  }

  bool is_found() const { return is_found_; }

  // The row that `reader` reads, made where it stands.
  Value* make(GraphBuilder& b, const Op& reader) const {
    ValueMap map;
    for (const WrittenStack* stack : rows_) {
      Value* row = ops::row_of(b, stack->result, reader.operand(1));
      map[stack->row] = ops::reshape(b, row, stack->row->type.shape);
    }
    for (const Op* op : ops_) {
      Op* copy = copy_op(*op, *reader.block, map);
      reader.block->ops.splice(reader.self, reader.block->ops, copy->self);
    }
    return ops::reshape(b, map.at(wanted_.row), reader.result()->type.shape);
  }

 private:
  bool follow(Value* value) {
    for (const WrittenStack& stack : stacks_) {
      if (stack.row != value || stack.result == wanted_.result || gone_.contains(stack.result)) continue;
      if (!contains(rows_, &stack)) rows_.push_back(&stack);
      return true;
    }
    Op* op = value->op;
    if (op && contains(ops_, op)) return true;
    if (!op || op->block != wanted_.row->op->block) return op && constant_of(value);
    const LiteralRef literal = constant_of(value);
    const bool is_cheap = literal ? literal->is_splat : op->def->is_elementwise || is_broadcast_splat(*op);
    flops_ += op->def->flops;
    if (!is_cheap || flops_ > flops_max_) return false;
    if (!std::ranges::all_of(op->operands, [&](Value* operand) { return follow(operand); })) return false;
    ops_.push_back(op);
    return true;
  }

  static bool is_broadcast_splat(const Op& op) { return op.is(kBroadcastInDim) && constant_of(op.operand(0)); }

  const std::vector<WrittenStack>& stacks_;
  const std::set<const Value*>& gone_;
  const WrittenStack& wanted_;
  int flops_max_;
  std::vector<const WrittenStack*> rows_;
  std::vector<Op*> ops_;  // each after those that it reads
  int flops_ = 0;
  bool is_found_ = false;
};

bool recompute(Op& loop, int flops_max) {
  const std::vector<WrittenStack> stacks = stacks_of(loop);
  std::set<const Value*> gone;
  for (const WrittenStack& stack : stacks) {
    const auto reads_row = [&](const Value::Use& use) { return reads_a_row(*use.op, stack.result); };
    if (stack.result->uses.empty() || !stack.row->op || !std::ranges::all_of(stack.result->uses, reads_row)) continue;
    const Recipe recipe(stacks, gone, stack, flops_max);
    if (!recipe.is_found()) continue;
    gone.insert(stack.result);
    const std::vector<Value::Use> uses = stack.result->uses;
    for (const Value::Use& use : uses) {
      GraphBuilder b;
      b.location = use.op->location;
      b.before(*use.op);
      replace_op(use.op, {recipe.make(b, *use.op)});
    }
  }
  return !gone.empty();
}

}  // namespace

bool recompute_stacks(Module& module, PassContext& context) {
  const int flops_max = kCachedFetches * context.target->machine.flops_per_fetch();
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    for (auto& op : block.ops) {
      if (is_loop(*op)) changed |= recompute(*op, flops_max);
    }
  });
  return changed;
}

}  // namespace ingot
