#include "aot/passes/fuse/kernel_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/base/join.h"
#include "aot/loops/contraction.h"
#include "aot/ops/ops.h"

namespace ingot::fusion {
namespace {

constexpr size_t kNameLengthMax = 64;

std::string_view short_name(const Op& op) { return op.name().substr(op.name().find('.') + 1); }

std::string extents(const Group& group, const Op& first_output) {
  switch (group.kind) {
    case GroupKind::kRows:
    case GroupKind::kColumns: {
      const int64_t rows = group.space.rows();
      return fmt::format("{}x{}", rows, rows ? group.space.points() / rows : 0);
    }
    default: {
      const Shape& shape = first_output.result()->type.shape;
      std::string text = shape.empty() ? "1" : join(shape, "x");
      if (group.kind == GroupKind::kContraction)
        text += fmt::format("x{}", group.root->def->contraction(*group.root).products_in_a_sum());
      return text;
    }
  }
}

}  // namespace

std::string kernel_name(const Partition& p, const Group& group) {
  const Op& output = *p.ops[*group.outputs.rbegin()];
  std::string name = to_string(output.result()->type.dtype);
  if (group.kind == GroupKind::kRows) name += "_rows";
  if (group.kind == GroupKind::kColumns) name += "_columns";
  if (group.root) name += fmt::format("_{}", short_name(*group.root));
  name += "_" + extents(group, output);
  const bool computes = std::ranges::any_of(group.members, [&](int i) { return p.ops[i]->def->flops > 0; });
  int left_out = 0;
  for (int i : group.members) {
    const Op& op = *p.ops[i];
    if (&op == group.root || op.is(kConstant)) continue;
    if (computes && (op.def->flops == 0 || op.def->only_moves())) continue;
    std::string_view verb = short_name(op);
    if (op.def->root == KernelRoot::kReduce) verb = short_name(*op.region().ops.front());
    if (left_out == 0 && name.size() + verb.size() < kNameLengthMax) {
      name += fmt::format("_{}", verb);
    } else {
      ++left_out;
    }
  }
  return left_out ? fmt::format("{}_and_{}", name, left_out) : name;
}

}  // namespace ingot::fusion
