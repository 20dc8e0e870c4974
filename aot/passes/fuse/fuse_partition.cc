#include "aot/passes/fuse/fuse_partition.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/analysis/element_loop.h"
#include "aot/analysis/joined_depth.h"
#include "aot/analysis/regions.h"
#include "aot/analysis/walk.h"
#include "aot/analysis/widened_constant.h"
#include "aot/graph/attributes.h"
#include "aot/ops/support/update.h"
#include "aot/passes/fuse/fuse_ops.h"

namespace ingot::fusion {
namespace {

// Some op that was copied to compute a value again reads a result.
bool feeds_copies(const Op& op) {
  return std::ranges::any_of(op.results, [](const auto& result) {
    return std::ranges::any_of(result->uses, [](const Value::Use& use) { return is_recomputed(*use.op); });
  });
}

class Partitioner {
 public:
  Partitioner(Block& block, PassContext& context, bool apart) : context_(context), apart_(apart) {
    p_.machine = &context.target->machine;
    for (const Op* op = block.parent_op; op; op = op->block->parent_op) p_.is_in_loop |= is_loop(*op);
    for (auto& op : block.ops) {
      p_.index[op.get()] = static_cast<int>(p_.ops.size());
      p_.ops.push_back(op.get());
    }
    clone_flops_.resize(p_.ops.size());
    for (const Op* op : p_.ops) p_.feeds_copies.push_back(!is_recomputed(*op) && feeds_copies(*op));
  }

  Partition run() {
    for (int i = static_cast<int>(p_.ops.size()) - 1; i >= 0; --i) place(i);
    return std::move(p_);
  }

 private:
  Group& group(int g) { return p_.groups[g]; }
  const Op& op(int i) const { return *p_.ops[i]; }
  const loops::Machine& machine() const { return *p_.machine; }

  // --- the decision for one op ---

  void place(int i) {
    const Op& it = op(i);
    const bool is_steps = is_control_flow(it) && !is_element_loop(it);
    if (it.def->is_terminator || it.def->root == KernelRoot::kNone || is_steps) {
      if (it.is(kConstant)) return;
      add_boundary(i);
      return;
    }
    if (it.is(kConstant) && !is_splat(it)) return;  // stays in the function, as read-only data
    std::vector<int> readers = readers_of(i);
    if (readers.empty()) return;
    if (apart_) return place_apart(i, readers);
    if (readers.size() == 1 && can_pull(i, readers[0])) {
      join(i, readers[0]);
      return;
    }
    if (may_clone(i)) clone(i, readers);
    if (!readers.empty()) materialize(i, readers);
  }

  void place_apart(int i, std::vector<int> readers) {
    if (is_free(op(i))) clone(i, readers);
    if (!readers.empty()) start_group(i, readers);
  }

  // Computes the op in each reader that can take it in; the others are left in `readers`.
  void clone(int i, std::vector<int>& readers) {
    std::erase_if(readers, [&](int g) {
      if (!can_pull_unchanged(i, g)) return false;
      join(i, g);
      note_clone_cost(i);
      return true;
    });
  }

  std::vector<int> readers_of(int i) const {
    std::set<int> readers;
    for (const auto& result : op(i).results) {
      if (const auto found = readers_.find(result.get()); found != readers_.end()) {
        readers.insert(found->second.begin(), found->second.end());
      }
    }
    return {readers.begin(), readers.end()};
  }

  // How a group reads an op's results.
  Access access_of(int i, int g) {
    Access access;
    bool first = true;
    for (const auto& result : op(i).results) {
      const auto found = group(g).reads.find(result.get());
      if (found == group(g).reads.end()) continue;
      access = first ? found->second : merged(access, found->second);
      first = false;
    }
    return access;
  }

  // --- joining ---

  // `to` is group g, or becomes it; here and below.
  void add_read(const Value* value, Group& to, int g, const Access& read) {
    const auto [at, is_new] = to.reads.emplace(value, read);
    if (!is_new) at->second = merged(at->second, read);
    readers_[value].insert(g);
  }

  void add_reads(int i, Group& to, int g, const Access& access) {
    const Op& it = op(i);
    if (is_update_in_place(it)) return add_update_reads(it, to, g);
    for (int k = 0; k < static_cast<int>(it.operands.size()); ++k) {
      add_read(it.operand(k), to, g, operand_access(it, access, to.space, k));
    }
    for (const auto& region : it.regions) {
      for (const Value* value : captured_values(*region)) {
        to.reads.emplace(value, Access{{}, false, false, true, 0});
        readers_[value].insert(g);
      }
    }
  }

  // The window, and where it goes; what it overwrites stays in memory.
  void add_update_reads(const Op& it, Group& to, int g) {
    add_read(it.operand(0), to, g, {{}, false, false, true, it.operand(0)->type.elements()});
    add_read(it.operand(1), to, g, align(it.operand(1)->type.shape, to.space, to.space.dims(), to.space.points()));
    for (size_t k = 2; k < it.operands.size(); ++k) add_read(it.operands[k], to, g, {{}, true, false, false, 1});
  }

  bool has_update(const Group& g) const {
    return std::ranges::any_of(g.members, [&](int i) { return is_update_in_place(op(i)); });
  }

  void join(int i, int g) {
    const Access access = access_of(i, g);
    group(g).members.insert(i);
    add_reads(i, group(g), g, access);
  }

  void add_boundary(int i) {
    Group made{GroupKind::kBoundary, {}, &op(i), {i}, {i}, {}, {}, false};
    for (int g : readers_of(i)) made.successors.insert(g);
    add_reads(i, made, static_cast<int>(p_.groups.size()), {{}, false, false, true, 0});
    for (auto& [value, access] : made.reads) access.is_reread = true;
    p_.groups.push_back(std::move(made));
  }

  // Recomputes what a group reads and how, after its space has changed.
  void reanalyze(int number) {
    Group& g = group(number);
    g.reads.clear();
    for (auto at = g.members.rbegin(); at != g.members.rend(); ++at) {
      const Op& it = op(*at);
      Access access;
      bool first = true;
      for (const auto& result : it.results) {
        std::vector<Access> ways;
        if (g.outputs.contains(*at)) ways.push_back(output_access(it, g.space));
        if (const auto found = g.reads.find(result.get()); found != g.reads.end()) ways.push_back(found->second);
        for (const Access& way : ways) {
          access = first ? way : merged(access, way);
          first = false;
        }
      }
      add_reads(*at, g, number, access);
    }
  }

  // --- legality ---

  // The op may be computed inside the group; the group may take another form for that (`become_rows`,
  // an epilogue's root).
  bool can_pull(int i, int g) {
    const Op& it = op(i);
    if (starts_recomputation(p_, i, group(g))) return is_free(it) || is_view(it);
    switch (it.def->root) {
      case KernelRoot::kElement:
        if (can_pull_unchanged(i, g)) return true;
        if (!sees_row_of_reduce(i, g)) return refuse_element(i, g);
        become_rows(g, access_of(i, g));
        return true;
      case KernelRoot::kReduce:
        return pull_reduce(i, g);
      case KernelRoot::kContraction:
        return pull_root(i, g, GroupKind::kContraction);
      case KernelRoot::kWindow:
      case KernelRoot::kSelectScatter:
        return pull_root(i, g, GroupKind::kAlone);
      default:
        return false;
    }
  }

  bool can_pull_unchanged(int i, int g) {
    const Op& it = op(i);
    if (group(g).kind == GroupKind::kBoundary || it.def->root != KernelRoot::kElement) return false;
    if (is_free(it) || is_view(it) || (is_joined_depth(it) && concatenates_materialized(it))) return true;
    if (group(g).members.size() >= kOpsMax) return false;
    if (group(g).kind == GroupKind::kContraction && is_widened_constant(it.result())) return true;
    const Access access = access_of(i, g);
    if (access.is_reread) return false;
    int64_t elements = 0;
    for (const auto& result : it.results) elements = std::max(elements, result->type.elements());
    return access.evaluations <= elements;
  }

  bool refuse_element(int i, int g) {
    const Access access = access_of(i, g);
    if (group(g).kind == GroupKind::kBoundary) return false;
    if (group(g).members.size() >= kOpsMax) return refuse(i, g, "the kernel has enough ops");
    if (access.is_reread) return refuse(i, g, "the consumer reads each element many times");
    return refuse(i, g,
                  fmt::format("it would be computed {} times for {} elements", access.evaluations,
                              op(i).result()->type.elements()));
  }

  bool refuse(int i, int g, std::string reason) {
    const Op* consumer = nullptr;
    for (const auto& use : op(i).result()->uses) {
      if (use.op->block == op(i).block && group(g).members.contains(p_.index.at(use.op))) consumer = use.op;
    }
    if (consumer) {
      context_.fuse_notes.push_back(
          {consumer->location, std::string(op(i).name()), std::string(consumer->name()), std::move(reason)});
    }
    return false;
  }

  // Element by element behind this op stands a reduction of the group's own space over the dimensions
  // that it leaves out.
  bool sees_row_of_reduce(int i, int g) {
    if (group(g).kind != GroupKind::kElementwise || has_update(group(g))) return false;
    const Space& space = group(g).space;
    const std::vector<int> missing = missing_last_dims(access_of(i, g), space);
    if (missing.empty() || row_bytes(space, missing) > machine().kept_row_bytes) return false;
    return reads_rows_of_reduce(op(i), space, missing);
  }

  void become_rows(int g, const Access& access) {
    Group& it = group(g);
    it.space.reduced = missing_last_dims(access, it.space);
    it.kind = GroupKind::kRows;
    reanalyze(g);
  }

  bool pull_reduce(int i, int g) {
    const Op& it = op(i);
    Group& to = group(g);
    const Shape& input = it.operand(0)->type.shape;
    const std::vector<int> dims = reduced_dims(it);
    const Access access = access_of(i, g);
    if (has_update(to)) return refuse(i, g, "the consumer writes a window");
    if (to.kind == GroupKind::kElementwise) {
      if (access.aligned && is_full(access, to.space) && it.result()->type.shape == to.space.shape) {
        to.space = {input, dims};
        to.kind = to.space.is_rows() ? GroupKind::kRows : GroupKind::kColumns;
        reanalyze(g);
        return true;
      }
      if (input == to.space.shape && missing_last_dims(access, to.space) == dims) {
        if (row_bytes(to.space, dims) > machine().kept_row_bytes)
          return refuse(i, g, "a row is too large to keep at hand");
        become_rows(g, access);
        return true;
      }
      return refuse(i, g, "the consumer does not visit the reduction's rows");
    }
    if (to.kind != GroupKind::kRows && to.kind != GroupKind::kColumns)
      return refuse(i, g, "the consumer is no reduction");
    if (to.space.shape != input || to.space.reduced != dims) return refuse(i, g, "they reduce different dimensions");
    if (!is_row(access, to.space)) return refuse(i, g, "the consumer does not read it row by row");
    if (to.kind == GroupKind::kColumns && access.evaluations > to.space.rows()) {
      return refuse(i, g, "every row is needed before the first result is there");
    }
    return true;
  }

  // The group becomes the epilogue of a contraction or a window.
  bool pull_root(int i, int g, GroupKind kind) {
    Group& to = group(g);
    if (to.kind == GroupKind::kBoundary) return false;
    if (to.kind != GroupKind::kElementwise) return refuse(i, g, "the consumer has a root of its own");
    if (kind == GroupKind::kAlone && has_update(to)) return refuse(i, g, "the consumer writes a window");
    const Access access = access_of(i, g);
    if (op(i).results.size() != 1 || op(i).result()->type.shape != to.space.shape || !access.aligned ||
        !is_full(access, to.space)) {
      return refuse(i, g, "the consumer does not read it in its own order");
    }
    to.kind = kind;
    to.root = &op(i);
    return true;
  }

  // --- several readers ---

  bool may_clone(int i) {
    const Op& it = op(i);
    if (is_free(it) || is_view(it)) return true;
    if (it.def->root != KernelRoot::kElement || !it.def->is_elementwise) return false;
    if (clone_cost(i) > machine().flops_per_fetch()) return false;
    // Worth it when it adds no new reads: the operands are there for others as well, or are not in memory.
    return std::all_of(it.operands.begin(), it.operands.end(), [&](const Value* operand) {
      return (operand->op && is_free(*operand->op)) || is_materialized_anyway(operand, it);
    });
  }

  int clone_cost(int i) const { return op(i).def->flops + clone_flops_[i]; }

  void note_clone_cost(int i) {
    if (is_free(op(i)) || is_view(op(i))) return;
    for (const Value* operand : op(i).operands) {
      if (!operand->op) continue;
      const auto found = p_.index.find(operand->op);
      if (found != p_.index.end()) clone_flops_[found->second] = std::max(clone_flops_[found->second], clone_cost(i));
    }
  }

  // The op's results are written to memory: by one of the groups that read them, or by a new one.
  void materialize(int i, const std::vector<int>& readers) {
    for (int g : readers) {
      if (!can_output(i, g, readers)) continue;
      join(i, g);
      group(g).outputs.insert(i);
      connect(g, readers);
      return;
    }
    start_group(i, readers);
  }

  void connect(int g, const std::vector<int>& readers) {
    for (int reader : readers) {
      if (reader != g) group(g).successors.insert(reader);
    }
  }

  bool can_output(int i, int g, const std::vector<int>& readers) {
    const Group& to = group(g);
    if (to.kind == GroupKind::kBoundary || to.kind == GroupKind::kAlone || op(i).results.size() != 1) return false;
    if (starts_recomputation(p_, i, to)) return false;
    for (int reader : readers) {
      if (reader != g && p_.reaches(reader, g)) return refuse(i, g, "the kernels would need each other's results");
    }
    const Access access = access_of(i, g);
    const Op& it = op(i);
    if (it.def->root == KernelRoot::kElement) {
      if (is_full(access, to.space) && access.aligned && it.result()->type.shape == to.space.shape) {
        return to.kind != GroupKind::kColumns && can_pull_unchanged(i, g);
      }
      if (to.kind == GroupKind::kElementwise && sees_row_of_reduce(i, g)) {
        become_rows(g, access);
        return true;
      }
      return (to.kind == GroupKind::kRows || to.kind == GroupKind::kColumns) && is_row(access, to.space) &&
             access.evaluations <= to.space.rows();
    }
    return can_pull(i, g);
  }

  void start_group(int i, const std::vector<int>& readers) {
    const Op& it = op(i);
    Group made;
    made.kind = GroupKind::kAlone;
    made.space.shape = it.result()->type.shape;
    if (it.def->root == KernelRoot::kElement) {
      made.kind = GroupKind::kElementwise;
      if (is_reshape_of_rows(it)) made.space.shape = it.operand(0)->type.shape;
    } else if (it.def->root == KernelRoot::kContraction) {
      made.kind = GroupKind::kContraction;
      made.root = &it;
    } else if (is_update_in_place(it)) {
      made.kind = GroupKind::kElementwise;
      made.space.shape = ops::window_source(it)->type.shape;
    } else if (it.def->root == KernelRoot::kReduce) {
      made.space = {it.operand(0)->type.shape, reduced_dims(it)};
      made.kind = made.space.is_rows() ? GroupKind::kRows : GroupKind::kColumns;
    } else {
      made.root = &it;
    }
    made.members.insert(i);
    made.outputs.insert(i);
    const int g = static_cast<int>(p_.groups.size());
    add_reads(i, made, g, output_access(it, made.space));
    p_.groups.push_back(std::move(made));
    connect(g, readers);
  }

  PassContext& context_;
  const bool apart_;
  Partition p_;
  std::unordered_map<const Value*, std::set<int>> readers_;  // the groups whose reads hold the value
  std::vector<int> clone_flops_;  // by op: what the chain that reads it, where it is cloned, costs
};

}  // namespace

bool Partition::reaches(int from, int to) const {
  std::vector<bool> seen(groups.size());
  std::vector<int> open = {from};
  while (!open.empty()) {
    const int g = open.back();
    open.pop_back();
    for (int next : groups[g].successors) {
      if (next == to) return true;
      if (seen[next]) continue;
      seen[next] = true;
      open.push_back(next);
    }
  }
  return false;
}

bool starts_recomputation(const Partition& p, int i, const Group& g) {
  if (!p.feeds_copies[i]) return false;
  bool feeds_group = false, feeds_others = false;
  for (const auto& result : p.ops[i]->results) {
    for (const Value::Use& use : result->uses) {
      const auto found = p.index.find(use.op);
      const bool is_member = found != p.index.end() && g.members.contains(found->second);
      feeds_group |= is_member && is_recomputed(*use.op);
      feeds_others |= !is_member;
    }
  }
  return feeds_group && feeds_others;
}

Partition partition(Block& block, PassContext& context) { return Partitioner(block, context, false).run(); }

Partition partition_apart(Block& block, PassContext& context) { return Partitioner(block, context, true).run(); }

}  // namespace ingot::fusion
