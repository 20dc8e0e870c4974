#include "aot/passes/annotations.h"

#include <algorithm>

#include "aot/passes/pass.h"
#include "aot/passes/walk.h"

namespace ingot {
namespace {

// Targets of custom calls that say where data should be, not what it is.
constexpr std::string_view kIdentityTargets[] = {
    "Sharding",     "SPMDFullToShardShape", "SPMDShardToFullShape",       "annotate_device_placement",
    "MoveToDevice", "MoveToHost",           "xla.sdy.FuncResultSharding", "LayoutConstraint",
};

bool forward(Module& module, bool (*matches)(const Op&)) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op* op = (at++)->get();
      if (!matches(*op)) continue;
      replace_op(op, Values(op->operands));
      changed = true;
    }
  });
  return changed;
}

}  // namespace

bool is_annotation(const Op& op) {
  return op.is("stablehlo.custom_call") && op.operands.size() == op.results.size() &&
         std::count(std::begin(kIdentityTargets), std::end(kIdentityTargets), op.attrs().string("call_target_name"));
}

bool is_barrier(const Op& op) { return op.is("stablehlo.optimization_barrier"); }

bool expand_annotations(Module& module, PassContext&) { return forward(module, is_annotation); }

bool drop_barriers(Module& module, PassContext&) { return forward(module, is_barrier); }

}  // namespace ingot
