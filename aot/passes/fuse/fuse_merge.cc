#include <algorithm>

#include "aot/ops/ops.h"
#include "aot/passes/fuse/fuse_ops.h"
#include "aot/passes/fuse/fuse_partition.h"

namespace ingot::fusion {
namespace {

// Outputs of a merged kernel: behind a contraction, whose registers are taken, and where each is small.
constexpr size_t kEpilogueOutputsMax = 4, kSmallOutputsMax = 24;

bool is_elementwise(const Group& g) { return g.kind == GroupKind::kElementwise; }
bool is_reduction(const Group& g) { return g.kind == GroupKind::kRows || g.kind == GroupKind::kColumns; }

bool is_small(const Partition& p, const Space& space) {
  return space.points() * info(DType::kF32).bytes <= p.machine->small_stream_bytes;
}

size_t outputs_max(const Partition& p, const Space& space) {
  return is_small(p, space) ? kSmallOutputsMax : static_cast<size_t>(p.machine->streams_max);
}

// Rows, and what is made beside them of the same points, whose results have another shape.
bool are_rows_and_beside(const Partition& p, const Group& rows, const Group& beside) {
  const auto is_reshaped = [&](int i) { return is_reshape_of_rows(*p.ops[i]); };
  return rows.kind == GroupKind::kRows && is_elementwise(beside) &&
         (std::ranges::any_of(rows.outputs, is_reshaped) || std::ranges::any_of(beside.outputs, is_reshaped));
}

// Both visit the same points in the same way; one of them may be a contraction whose epilogue the other joins.
bool visit_the_same(const Partition& p, const Group& a, const Group& b) {
  if (a.is_merged_away || b.is_merged_away || a.space.shape != b.space.shape) return false;
  if (are_rows_and_beside(p, a, b) || are_rows_and_beside(p, b, a)) {
    return a.members.size() + b.members.size() <= kOpsMax &&
           a.outputs.size() + b.outputs.size() <= outputs_max(p, a.space);
  }
  if (a.space.reduced != b.space.reduced) return false;
  if (a.members.size() + b.members.size() > kOpsMax) return false;
  const size_t outputs = a.outputs.size() + b.outputs.size();
  if (a.kind == b.kind) return (is_elementwise(a) || is_reduction(a)) && outputs <= outputs_max(p, a.space);
  const bool is_epilogue = (a.kind == GroupKind::kContraction && is_elementwise(b)) ||
                           (is_elementwise(a) && b.kind == GroupKind::kContraction);
  return is_epilogue && outputs <= kEpilogueOutputsMax;
}

bool is_constant(const Value* value) { return value->op && value->op->is(kConstant); }

// Rows have what is only repeated at hand: to share that saves no memory traffic.
bool is_repeated(const Value* value) {
  const Op* op = value->op;
  return op && op->operands.size() == 1 && is_view(*op) && op->operand(0)->type.elements() < value->type.elements();
}

// A value from outside, as large as the space, that both groups read in the same order.
bool share_a_read(const Group& a, const Group& b) {
  for (const auto& [value, access] : a.reads) {
    const auto other = b.reads.find(value);
    if (other == b.reads.end() || !is_full(access, a.space) || !is_full(other->second, b.space)) continue;
    if (a.kind == GroupKind::kRows && is_repeated(value)) continue;
    if (value->type.elements() == a.space.points() && !is_constant(value)) return true;
  }
  return false;
}

// The reader can take the writer's outputs from where they are made: at the same point, or for the whole row.
bool reads_in_place(const Partition& p, const Group& writer, const Group& reader) {
  for (int i : writer.outputs) {
    for (const auto& result : p.ops[i]->results) {
      const auto read = reader.reads.find(result.get());
      if (read == reader.reads.end()) continue;
      const Access& access = read->second;
      const bool at_its_point = access.aligned && is_full(access, reader.space) && writer.kind != GroupKind::kColumns;
      const bool once_a_row =
          is_reduction(reader) && is_row(access, reader.space) && access.evaluations <= reader.space.rows();
      if (access.is_reread || !(at_its_point || once_a_row)) return false;
    }
  }
  return true;
}

bool reaches_by_way_of_others(const Partition& p, int from, int to) {
  for (int next : p.groups[from].successors) {
    if (next != to && p.reaches(next, to)) return true;
  }
  return false;
}

// In a loop a step costs more than what small kernels lose by being one.
bool are_small_and_many(const Partition& p, const Group& a, const Group& b) {
  return p.is_in_loop && is_elementwise(a) && is_elementwise(b) && is_small(p, a.space);
}

// `a` and `b` need nothing from each other and read a value in common.
bool are_siblings(const Partition& p, int a, int b) {
  const Group& x = p.groups[a];
  const Group& y = p.groups[b];
  return x.kind == y.kind && visit_the_same(p, x, y) && (share_a_read(x, y) || are_small_and_many(p, x, y)) &&
         !p.reaches(a, b) && !p.reaches(b, a);
}

// `reader` reads what `writer` makes, and depends on it in no other way.
bool are_in_line(const Partition& p, int writer, int reader) {
  const Group& x = p.groups[writer];
  const Group& y = p.groups[reader];
  const auto is_start = [&](int i) { return starts_recomputation(p, i, y); };
  return x.successors.contains(reader) && std::ranges::none_of(x.outputs, is_start) && visit_the_same(p, x, y) &&
         y.kind != GroupKind::kContraction && reads_in_place(p, x, y) && !reaches_by_way_of_others(p, writer, reader);
}

void merge(Partition& p, int into, int from) {
  Group& to = p.groups[into];
  Group& gone = p.groups[from];
  to.members.insert(gone.members.begin(), gone.members.end());
  if (gone.kind == GroupKind::kRows) {
    to.kind = gone.kind;
    to.space = gone.space;
  }
  to.outputs.insert(gone.outputs.begin(), gone.outputs.end());
  to.successors.insert(gone.successors.begin(), gone.successors.end());
  if (!to.root) to.root = gone.root;
  for (const auto& [value, access] : gone.reads) {
    const auto [at, is_new] = to.reads.emplace(value, access);
    if (!is_new) at->second = merged(at->second, access);
  }
  gone = Group{gone.kind, {}, nullptr, {}, {}, {}, {}, true};
  for (Group& g : p.groups) {
    if (g.successors.erase(from)) g.successors.insert(into);
  }
  to.successors.erase(into);
}

// Outputs that only the group itself reads are no outputs any more.
void drop_inner_outputs(Partition& p, int g) {
  Group& group = p.groups[g];
  std::erase_if(group.outputs, [&](int i) {
    for (size_t other = 0; other < p.groups.size(); ++other) {
      if (static_cast<int>(other) == g) continue;
      for (const auto& result : p.ops[i]->results) {
        if (p.groups[other].reads.contains(result.get())) return false;
      }
    }
    return true;
  });
}

bool merge_any(Partition& p) {
  bool changed = false;
  const int count = static_cast<int>(p.groups.size());
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < count; ++b) {
      if (a == b || !(are_in_line(p, a, b) || (a < b && are_siblings(p, a, b)))) continue;
      merge(p, a, b);
      drop_inner_outputs(p, a);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

void merge_groups(Partition& p) {
  while (merge_any(p)) {
  }
}

}  // namespace ingot::fusion
