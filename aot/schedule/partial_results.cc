#include "aot/schedule/partial_results.h"

#include "aot/schedule/sweep.h"

namespace ingot::schedule {

using loops::BufferId;
using loops::Expr;
using loops::Index;

void PartialResults::add(Draft& draft, DType dtype) {
  Shape all{parts};
  all.insert(all.end(), shape.begin(), shape.end());
  temporaries.push_back(draft.add_temporary({dtype, all}));
}

Index PartialResults::place(const Index& part, const Index& flat) const { return part * element_count(shape) + flat; }

void combine_parts(Step& step, const PartialResults& partial, const Values& makes, const Values& roots,
                   const std::function<void(const LoadPart&)>& answer) {
  Draft& draft = step.draft();
  std::vector<BufferId> buffers;
  for (const int temporary : partial.temporaries) buffers.push_back(step.read_temporary(temporary));
  const BufferId sums = partial.parts == 1 ? buffers[0] : BufferId{-1};
  step.write(makes, read_in_place(draft, makes, {roots.begin(), roots.end()}), sums);
  const double work_ns = static_cast<double>(partial.parts * element_count(partial.shape));
  sweep(
      step, sweep_space(draft, makes, roots), wanted_tasks(draft, work_ns),
      [&](const std::vector<Index>& index, const Expr& mask) {
        const Index flat = loops::flatten(index, partial.shape);
        answer([&](size_t k, const Index& part) { return step.b().load(buffers[k], partial.place(part, flat), mask); });
        step.store_pulled(makes, index, mask);
      });
  step.finish();
}

}  // namespace ingot::schedule
