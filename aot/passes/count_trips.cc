#include "aot/analysis/trip_count.h"
#include "aot/analysis/walk.h"
#include "aot/graph/attributes.h"
#include "aot/ops/ops.h"
#include "aot/passes/pass.h"

namespace ingot {

bool count_trips(Module& module, PassContext&) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    for (auto& op : block.ops) {
      if (!op->is(kWhile) || op->attr_map.contains(attributes::kTripCount)) continue;
      const std::optional<int64_t> trips = trip_count(*op);
      if (!trips) continue;
      op->attr_map.emplace(attributes::kTripCount, IntAttr{*trips});
      changed = true;
    }
  });
  return changed;
}

}  // namespace ingot
