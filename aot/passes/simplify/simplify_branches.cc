#include <algorithm>

#include "aot/analysis/regions.h"
#include "aot/analysis/walk.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

// The only branch that can be taken, or -1.
int certain_branch(const Op& op) {
  const int last = static_cast<int>(op.regions.size()) - 1;
  if (last == 0) return 0;
  const LiteralRef index = constant_of(op.operand(0));
  if (!index) return -1;
  const int64_t value = index->int_at(0);
  if (op.is(kIf)) return value ? 0 : 1;
  return static_cast<int>(value < 0 || value > last ? last : value);
}

// What every branch returns as result `i`, when that is one value from outside; else null.
Value* common_result(const Op& op, int i) {
  Value* value = op.region(0).terminator()->operand(i);
  const bool is_common = std::ranges::all_of(op.regions, [&](const auto& region) {
    return region->terminator()->operand(i) == value && is_outside(value, *region);
  });
  return is_common ? value : nullptr;
}

bool simplify_branch(Op* op) {
  if (const int branch = certain_branch(*op); branch >= 0) {
    replace_op(op, move_before(*op, op->region(branch)));
    return true;
  }
  bool changed = false;
  std::vector<bool> is_read;
  for (const auto& result : op->results) {
    Value* common = common_result(*op, result->index);
    if (common && !result->uses.empty()) {
      replace_all_uses(result.get(), common);
      changed = true;
    }
    is_read.push_back(!result->uses.empty());
  }
  const auto read = std::ranges::count(is_read, true);
  if (read == 0 || read == std::ssize(is_read)) return changed;
  keep_results(op, is_read);
  return true;
}

}  // namespace

bool simplify_branches(Module& module, PassContext&) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op* op = (at++)->get();
      if (is_control_flow(*op) && !is_loop(*op)) changed |= simplify_branch(op);
    }
  });
  return changed;
}

}  // namespace ingot
