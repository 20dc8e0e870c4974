#include <algorithm>

#include "aot/analysis/walk.h"
#include "aot/ops/ops.h"
#include "aot/schedule/rows_ahead.h"
#include "aot/schedule/sweep.h"
#include "aot/schedule/templates.h"

namespace ingot::schedule {
namespace {

bool reads_far_table(const Draft& draft, const Value* value, std::set<const Value*>& seen) {
  if (draft.is_made(value) || !seen.insert(value).second) return false;
  const Op& op = *value->op;
  if (op.is(kGather) && draft.is_made(op.operand(0)) && is_far(draft, op.operand(0)->type)) return true;
  return std::ranges::any_of(op.operands, [&](const Value* operand) { return reads_far_table(draft, operand, seen); });
}

}  // namespace

void lower_elementwise(Draft& draft, const Values& values) {
  Step step(draft, lanes_for(draft, values));
  if (std::ranges::all_of(values, [](const Value* value) { return value->op && is_unread(*value->op); })) {
    step.write(values);
    step.b().set_task_count(0);
    return step.finish();
  }
  SweepSpace space = sweep_space(draft, values);
  find_together(draft, values, space);
  step.read(values);
  step.write(values, read_in_place(draft, values));
  const auto make = [&](const std::vector<loops::Index>& index, const loops::Expr& mask) {
    step.store_pulled(values, places_together(step.b(), space, index, mask));
  };
  SweepAhead ask = nullptr;
  std::set<const Value*> seen;
  const auto is_gathered = [&](const Value* value) { return reads_far_table(draft, draft.source(value), seen); };
  if (step.b().vector_lanes() > 1 && std::ranges::any_of(values, is_gathered)) {
    ask = [&](const std::vector<loops::Index>& index, int64_t elements) {
      for (const Value* value : values) {
        step.pull().prefetch_rows(draft.source(value), index, elements * info(value->type.dtype).bytes);
      }
    };
  }
  sweep(step, space, wanted_tasks(draft, work_ns(draft, values)), make, ask);
  step.finish();
}

}  // namespace ingot::schedule
