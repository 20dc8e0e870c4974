#include "aot/passes/fuse_partition.h"

namespace ingot::fusion {
namespace {

constexpr int kOutputsMax = 8;  // streams that a merged kernel writes

bool may_have_siblings(const Group& g) {
  return !g.is_merged_away &&
         (g.kind == GroupKind::kElementwise || g.kind == GroupKind::kRows || g.kind == GroupKind::kColumns);
}

// A value from outside, as large as the space, that both groups read in the same order.
bool share_a_read(const Group& a, const Group& b) {
  for (const auto& [value, access] : a.reads) {
    const auto other = b.reads.find(value);
    if (other == b.reads.end() || !is_full(access, a.space) || !is_full(other->second, b.space)) continue;
    if (value->type.elements() == a.space.points() && !(value->op && value->op->is("stablehlo.constant"))) return true;
  }
  return false;
}

bool are_siblings(const Partition& p, int a, int b) {
  const Group& x = p.groups[a];
  const Group& y = p.groups[b];
  return may_have_siblings(x) && may_have_siblings(y) && x.kind == y.kind && x.space.shape == y.space.shape &&
         x.space.reduced == y.space.reduced && x.outputs.size() + y.outputs.size() <= kOutputsMax &&
         share_a_read(x, y) && !p.reaches(a, b) && !p.reaches(b, a);
}

void merge(Partition& p, int into, int from) {
  Group& to = p.groups[into];
  Group& gone = p.groups[from];
  to.members.insert(gone.members.begin(), gone.members.end());
  to.outputs.insert(gone.outputs.begin(), gone.outputs.end());
  to.successors.insert(gone.successors.begin(), gone.successors.end());
  for (const auto& [value, access] : gone.reads) {
    const auto [at, is_new] = to.reads.emplace(value, access);
    if (!is_new) at->second = merged(at->second, access);
  }
  gone = Group{gone.kind, {}, nullptr, {}, {}, {}, {}, true};
  for (Group& g : p.groups) {
    if (g.successors.erase(from)) g.successors.insert(into);
  }
}

}  // namespace

void merge_siblings(Partition& p) {
  for (int a = 0; a < static_cast<int>(p.groups.size()); ++a) {
    for (int b = a + 1; b < static_cast<int>(p.groups.size()); ++b) {
      if (are_siblings(p, a, b)) merge(p, a, b);
    }
  }
}

}  // namespace ingot::fusion
