// reduce_window: each result element walks its window.
#include <algorithm>

#include "aot/schedule/kernels/window_walk.h"
#include "aot/schedule/reduce/accumulate.h"
#include "aot/schedule/sweep.h"
#include "aot/schedule/templates.h"

namespace ingot::schedule {
namespace {

using loops::Expr;
using loops::Index;
using loops::ScalarOp;

int lanes_of(Step& step, const std::vector<Index>& index, const Shape& shape) {
  return step.b().has_lanes(loops::flatten(index, shape)) ? step.b().vector_lanes() : 1;
}

}  // namespace

void lower_window(Draft& draft, const Op& root) {
  const ops::Window window = ops::read_window(root.attrs());
  Values roots, operands;
  for (size_t i = 0; i < root.results.size(); ++i) {
    roots.push_back(root.result(static_cast<int>(i)));
    operands.push_back(root.operand(static_cast<int>(i)));
  }
  const Shape& shape = operands[0]->type.shape;
  const Values makes = with_epilogue(draft, roots);
  SweepSpace space = sweep_space(draft, makes, roots);
  space.merged = collapsible_dims(draft, window, operands, space.merged);
  space.strided_dim = -1;

  Step step(draft, lanes_for(draft, roots));
  step.read(makes);
  step.read(roots);
  step.write(makes);
  loops::KernelBuilder& b = step.b();
  const double offsets = static_cast<double>(element_count(ops::sizes(window)));
  sweep(step, space, wanted_tasks(draft, work_ns(draft, makes) * std::max(1.0, offsets / 4)),
        [&](const std::vector<Index>& index, const Expr& mask) {
          Accumulator accumulator(step, root, lanes_of(step, index, roots[0]->type.shape), 1);
          accumulator.start();
          walk_offsets(b, ops::sizes(window), [&](const std::vector<Index>& offset) {
            Pull::Scope scope(step.pull());
            Expr exists = mask;
            const std::vector<Index> at = place_of(b, window, shape, index, offset, exists);
            // Padding and holes count: they hold the start value.
            std::vector<Expr> elements;
            for (size_t i = 0; i < operands.size(); ++i) {
              const Expr start = step.pull().element(root.operand(static_cast<int>(operands.size() + i)), {}, nullptr);
              const Expr element = step.pull().element(operands[i], at, exists);
              elements.push_back(exists ? b.apply(ScalarOp::kSelect, {exists, element, start}) : element);
            }
            accumulator.take_values(0, std::move(elements), nullptr);
          });
          for (int i = 0; i < accumulator.result_count(); ++i) {
            const Expr combined = accumulator.is_known() ? accumulator.chain_value(0) : nullptr;
            const Expr result = b.let("reduced", accumulator.result(i, combined));
            step.pull().answer(root.result(i), [result](const auto&, const Expr&) { return result; });
          }
          step.store_pulled(makes, index, mask);
        });
  step.finish();
}

}  // namespace ingot::schedule
