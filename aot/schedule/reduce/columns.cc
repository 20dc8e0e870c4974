// Columns: the innermost dimension stays. A task takes blocks of a few vectors of columns and walks down the reduced
// dimensions, an accumulator for each vector.
#include "aot/schedule/reduce/reduce_space.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;

void lower_columns(Draft& draft, const ReduceGroup& group) {
  Step step(draft, group.run() > 1 ? lanes_for(draft, group.roots()) : 1);
  Values reads = group.roots();
  reads.insert(reads.end(), group.kept_values.begin(), group.kept_values.end());
  step.read(reads);
  step.write(group.kept_values, read_in_place(draft, group.kept_values));
  loops::KernelBuilder& b = step.b();
  const int lanes = b.vector_lanes();
  const int most_vectors = group.all_known() ? column_vectors(draft, group) : 1;
  const auto emit_block = [&](const std::vector<Index>& at, const Index& first, int vectors, bool is_ragged) {
    std::vector<Accumulator> accumulators;
    for (const Op* op : group.reduces) {
      accumulators.emplace_back(step, *op, lanes, vectors, has_long_columns(group)).start();
    }
    take_columns(step, group, accumulators, at, first, vectors, is_ragged, {});
    b.unrolled("v", vectors, [&](Index v) {
      Pull::Scope scope(step.pull());
      std::vector<Index> index = at;
      const Index column = first + v * lanes + b.lane();
      if (!group.run_dims.empty()) index[group.run_dims.back()] = column;
      const Expr mask = is_ragged ? b.in_range(column, 0, group.run()) : nullptr;
      for (Accumulator& accumulator : accumulators) {
        for (int i = 0; i < accumulator.result_count(); ++i) {
          const Expr combined = accumulator.is_known() ? accumulator.chain_value(v) : nullptr;
          const Expr result = b.let("reduced", accumulator.result(i, combined));
          step.pull().answer(accumulator.op().result(i), [result](const auto&, const Expr&) { return result; });
        }
      }
      step.store_pulled(group.kept_values, kept_of(group, index), mask);
    });
  };
  const int64_t units = column_units(group, lanes, most_vectors);
  for_each_unit(b, "unit", units, wanted_tasks(draft, work_ns(draft, reads)), [&](const Index& unit) {
    Pull::Scope scope(step.pull());
    walk_columns(step, group, unit, most_vectors, emit_block);
  });
  step.finish();
}

}  // namespace ingot::schedule
