#include <algorithm>

#include "aot/analysis/regions.h"
#include "aot/analysis/trip_count.h"
#include "aot/analysis/walk.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

constexpr int64_t kOpsMax = 320;  // of all iterations: beyond, compiling takes longer than the loop's steps are worth

// Everything in it can be computed within whatever kernel reads it.
bool fuses(const Block& body) {
  return std::ranges::all_of(body.ops, [](const auto& op) {
    return op->def->is_terminator || (op->def->root == KernelRoot::kElement && op->regions.empty());
  });
}

bool is_worth(const Op& loop, int64_t trips) {
  if (trips <= 1) return true;
  const Block& body = loop.region(1);
  return trips * (std::ssize(body.ops) - 1) <= kOpsMax && fuses(body);
}

void unroll(Op* loop, int64_t trips) {
  Values carried = loop->operands;
  for (int64_t trip = 0; trip < trips; ++trip) {
    ValueMap map;
    for (size_t i = 0; i < carried.size(); ++i) map[loop->region(1).argument(static_cast<int>(i))] = carried[i];
    carried = copy_before(*loop, loop->region(1), map);
  }
  replace_op(loop, carried);
}

}  // namespace

bool unroll_loops(Module& module, PassContext&) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op* op = (at++)->get();
      if (!is_loop(*op)) continue;
      const std::optional<int64_t> trips = trip_count(*op);
      if (!trips || !is_worth(*op, *trips)) continue;
      unroll(op, *trips);
      changed = true;
    }
  });
  return changed;
}

}  // namespace ingot
