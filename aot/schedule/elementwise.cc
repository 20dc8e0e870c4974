#include <algorithm>

#include "aot/analysis/walk.h"
#include "aot/schedule/sweep.h"
#include "aot/schedule/templates.h"

namespace ingot::schedule {

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
  sweep(step, space, wanted_tasks(draft, work_ns(draft, values)),
        [&](const std::vector<loops::Index>& index, const loops::Expr& mask) {
          step.store_pulled(values, places_together(step.b(), space, index, mask));
        });
  step.finish();
}

}  // namespace ingot::schedule
