#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "aot/analysis/element_loop.h"
#include "aot/analysis/regions.h"
#include "aot/analysis/walk.h"
#include "aot/graph/access_map.h"
#include "aot/graph/attributes.h"
#include "aot/graph/builder.h"
#include "aot/passes/checks.h"
#include "aot/passes/fuse/fuse_ops.h"
#include "aot/passes/fuse/fuse_partition.h"
#include "aot/passes/fuse/kernel_name.h"

namespace ingot {
namespace fusion {
namespace {

// Groups so that each comes after those whose outputs it reads; where that leaves a choice, in program order.
std::vector<int> in_order(const Partition& p) {
  const int count = static_cast<int>(p.groups.size());
  std::vector<int> waits_for(count);
  for (const Group& g : p.groups) {
    for (int next : g.successors) ++waits_for[next];
  }
  const auto later = [&](int a, int b) { return *p.groups[a].outputs.begin() > *p.groups[b].outputs.begin(); };
  std::priority_queue<int, std::vector<int>, decltype(later)> ready(later);
  std::vector<int> order;
  int alive = 0;
  for (int g = 0; g < count; ++g) {
    if (p.groups[g].is_merged_away) continue;
    ++alive;
    if (waits_for[g] == 0) ready.push(g);
  }
  while (!ready.empty()) {
    const int g = ready.top();
    ready.pop();
    order.push_back(g);
    for (int next : p.groups[g].successors) {
      if (--waits_for[next] == 0) ready.push(next);
    }
  }
  if (static_cast<int>(order.size()) != alive) throw_bug("fuse: kernels need each other's results");
  return order;
}

class KernelMaker {
 public:
  KernelMaker(Partition& p, Block& block) : p_(p), block_(block) {}

  // Makes the group's kernel at the end of the block; its outputs are known to later groups from here on.
  void make(const Group& g) {
    auto body = std::make_unique<Block>();
    ValueMap inner;
    Values operands;
    const auto read_from_outside = [&](Value* value) {
      if (inner.contains(value)) return;
      operands.push_back(outside(value));
      inner[value] = body->add_argument(value->type, value->name, value->location);
    };
    GraphBuilder b;
    b.at_end(*body);
    for (int i : g.members) {
      Op& op = *p_.ops[i];
      for (Value* operand : op.operands) read_from_outside(operand);
      for (const auto& region : op.regions) {
        for (Value* value : captured_values(*region)) read_from_outside(value);
      }
      copy_op(op, *body, inner);
    }
    Values yielded, replaced;
    for (int i : g.outputs) {
      for (const auto& result : p_.ops[i]->results) {
        if (p_.ops[i]->results.size() > 1 && result->uses.empty()) continue;
        yielded.push_back(inner.at(result.get()));
        replaced.push_back(result.get());
      }
    }
    b.location = main_op(g).location;
    b.create(kYield, yielded);

    GraphBuilder outer;
    outer.at_end(block_);
    outer.location = main_op(g).location;
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(std::move(body));
    AttrMap attrs = {{"name", kernel_name(p_, g)}};
    if (std::vector<int64_t> invariant = invariant_operands(g, operands); !invariant.empty()) {
      attrs.emplace(attributes::kInvariantOperands, std::move(invariant));
    }
    Op* kernel = outer.create(kKernel, operands, std::move(attrs), {}, std::move(regions));
    for (size_t i = 0; i < replaced.size(); ++i) {
      Value* result = kernel->result(static_cast<int>(i));
      result->name = replaced[i]->name;
      result->location = replaced[i]->location;
      made_[replaced[i]] = result;
    }
  }

  // An op that is no kernel moves to the end of the block as it is.
  void keep(Op* op) {
    block_.ops.splice(block_.ops.end(), block_.ops, op->self);
    redirect(op);
  }

 private:
  // What a contraction may prepare before it runs: constants, and in a loop's body what comes from outside of the loop.
  std::vector<int64_t> invariant_operands(const Group& g, const Values& operands) const {
    std::vector<int64_t> invariant;
    if (g.kind != GroupKind::kContraction) return {};
    const Op* parent = block_.parent_op;
    const bool is_body = parent && is_loop(*parent) && &block_ == &parent->region(1);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (constant_of(operands[i]) || (is_body && is_outside(operands[i], block_)))
        invariant.push_back(static_cast<int64_t>(i));
    }
    return invariant;
  }

  const Op& main_op(const Group& g) const { return g.root ? *g.root : *p_.ops[*g.outputs.rbegin()]; }

  Value* outside(Value* value) {
    const auto found = made_.find(value);
    return found == made_.end() ? value : found->second;
  }

  void redirect(Op* op) {
    for (int i = 0; i < static_cast<int>(op->operands.size()); ++i) {
      if (Value* value = outside(op->operand(i)); value != op->operand(i)) op->set_operand(i, value);
    }
    for (auto& region : op->regions) {
      for (auto& inner : region->ops) redirect(inner.get());
    }
  }

  Partition& p_;
  Block& block_;
  std::unordered_map<const Value*, Value*> made_;
};

void refuse_what_has_no_kernel(const Block& block) {
  for (const auto& op : block.ops) {
    if (op->def->root != KernelRoot::kNone || op->def->is_terminator || op->is(kKernel)) continue;
    throw_limit(op->location, fmt::format("{} in @{} has no kernel; it can be evaluated but not compiled yet",
                                          op->name(), function_of(&block)->name));
  }
}

// Reads nothing, or no more than what it makes has elements: what costs nothing to make again in every iteration.
bool is_free_inside(const Op& op) { return is_free(op) || reads_in_order(op); }

// What costs nothing and stands outside of a region is made anew inside, where kernels may take it in.
void sink_free_values(Block& region) {
  Values open = captured_values(region);
  while (!open.empty()) {
    Value* value = open.back();
    open.pop_back();
    if (!value->op || !is_free_inside(*value->op) || !is_outside(value, region)) continue;
    ValueMap map;
    Op* copy = copy_op(*value->op, region, map);
    region.ops.splice(region.ops.begin(), region.ops, copy->self);
    const std::vector<Value::Use> uses = value->uses;
    for (const Value::Use& use : uses) {
      if (is_inside(use.op->block, region)) use.op->set_operand(use.operand_index, copy->result());
    }
    open.insert(open.end(), copy->operands.begin(), copy->operands.end());
  }
}

Partition partition_fused(Block& block, PassContext& context) {
  Partition p = partition(block, context);
  merge_groups(p);
  return p;
}

using Partitioning = Partition (*)(Block& block, PassContext& context);

bool make_kernels(Block& block, PassContext& context, Partitioning partitioning) {
  if (every_op_is_a_kernel(block).empty()) return false;
  refuse_what_has_no_kernel(block);
  for (auto& op : block.ops) {
    if (!is_control_flow(*op)) continue;
    for (auto& region : op->regions) sink_free_values(*region);
    if (is_element_loop(*op)) continue;
    for (auto& region : op->regions) make_kernels(*region, context, partitioning);
  }
  Partition p = partitioning(block, context);
  KernelMaker maker(p, block);
  std::set<const Op*> kept;
  for (int g : in_order(p)) {
    const Group& group = p.groups[g];
    if (group.kind == GroupKind::kBoundary) {
      Op* op = p.ops[*group.members.begin()];
      kept.insert(op);
      maker.keep(op);
    } else {
      maker.make(group);
    }
  }
  for (auto op = p.ops.rbegin(); op != p.ops.rend(); ++op) {
    if (!kept.contains(*op) && !(*op)->has_uses()) erase(*op);
  }
  return true;
}

bool make_kernels(Module& module, PassContext& context, Partitioning partitioning) {
  bool changed = false;
  for (auto& function : module.functions) changed |= make_kernels(function->body, context, partitioning);
  return changed;
}

}  // namespace
}  // namespace fusion

bool fuse(Module& module, PassContext& context) {
  return fusion::make_kernels(module, context, fusion::partition_fused);
}

bool wrap_ops(Module& module, PassContext& context) {
  return fusion::make_kernels(module, context, fusion::partition_apart);
}

}  // namespace ingot
