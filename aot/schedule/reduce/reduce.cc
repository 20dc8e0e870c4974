// reduce: which reduces and results share a kernel, and which way they are walked.
#include <algorithm>

#include "aot/base/contains.h"
#include "aot/schedule/partial_results.h"
#include "aot/schedule/reduce/reduce_space.h"
#include "aot/schedule/sweep.h"
#include "aot/schedule/templates.h"

namespace ingot::schedule {
namespace {

using loops::Expr;
using loops::Index;

constexpr int kPartChains = 4;

ReduceGroup space_of(const Op& root) {
  ReduceGroup group;
  group.shape = root.operand(0)->type.shape;
  group.kept_shape = root.result()->type.shape;
  const std::vector<int64_t> reduced = root.attrs().ints("dimensions");
  const auto is_reduced = [&](int d) { return contains(reduced, d); };
  for (int d = 0; d < static_cast<int>(group.shape.size()); ++d) {
    if (!is_reduced(d)) group.kept.push_back(d);
  }
  const std::vector<int> dims = long_dims(group.shape);
  group.is_rows = dims.empty() || is_reduced(dims.back());
  return group;
}

// Chooses the run: as many of the innermost dimensions as are alike and as everything pulled allows.
void choose_run(const Draft& draft, ReduceGroup& group) {
  const std::vector<int> dims = long_dims(group.shape);
  const Values roots = group.roots();
  int merged = static_cast<int>(dims.size());
  for (const Op* op : group.reduces) {
    for (size_t i = 0; i < op->results.size(); ++i)
      merged = std::min(merged, merged_dims(draft, op->operand(static_cast<int>(i)), roots));
  }
  for (const Value* value : group.row_values) merged = std::min(merged, merged_dims(draft, value, roots));
  if (!group.is_rows) {
    for (const Value* value : group.kept_values)
      merged = std::min(merged, std::max(1, merged_dims(draft, value, roots)));
  }
  const auto is_kept = [&](int d) { return contains(group.kept, d); };
  group.run_dims.clear();
  for (size_t t = dims.size(); t-- > 0 && static_cast<int>(dims.size() - t) <= std::max(merged, 1);) {
    if (is_kept(dims[t]) == group.is_rows) break;
    group.run_dims.insert(group.run_dims.begin(), dims[t]);
  }
  group.outer.clear();
  for (const int d : dims) {
    if (!is_kept(d) && !contains(group.run_dims, d)) group.outer.push_back(d);
  }
}

// The reduces of the region that fit `root`'s space and need nothing else unmade; rows may build on each other.
void gather_reduces(const Draft& draft, const Op& root, ReduceGroup& group) {
  for (const auto& op : draft.body().ops) {
    if (op->def->root != KernelRoot::kReduce || draft.is_made(op->result())) continue;
    const ReduceGroup space = space_of(*op);
    if (op.get() != &root && (space.shape != group.shape || space.kept != group.kept)) continue;
    const Values given = group.is_rows ? group.roots() : Values{};
    const bool is_free = std::ranges::none_of(
        op->operands, [&](const Value* operand) { return needs_other_root(draft, operand, given); });
    if (op.get() == &root || is_free) group.reduces.push_back(op.get());
  }
}

// The results of the kernel that can be made with the rows.
void gather_row_results(const Draft& draft, ReduceGroup& group) {
  const Values roots = group.roots();
  for (Value* value : draft.body().terminator()->operands) {
    if (draft.is_made(value) || contains(roots, value) || needs_other_root(draft, value, roots)) continue;
    if (contains(group.row_values, value) || contains(group.kept_values, value)) continue;
    if (value->type.shape == group.shape) {
      group.row_values.push_back(value);
    } else if (value->type.elements() == group.kept_count() &&
               std::ranges::any_of(roots, [&](const Value* root) { return draft.needs(value, root); })) {
      group.kept_values.push_back(value);
    }
  }
  Values taken = group.row_values;
  taken.insert(taken.end(), group.kept_values.begin(), group.kept_values.end());
  for (Value* root : roots_to_store(draft, roots, taken)) group.kept_values.push_back(root);
}

// What is cut in parts, each by itself: rows, or columns a few vectors at a time.
int64_t part_units(const Draft& draft, const ReduceGroup& group, int lanes) {
  return group.is_rows ? group.kept_count() : column_units(group, lanes, column_vectors(draft, group));
}

// Elements, of which parts have a multiple.
int64_t least_part(const ReduceGroup& group, int lanes) {
  return group.is_rows && group.outer.empty() ? lanes * kPartChains : 1;
}

// In how many parts the reduced space is cut so that tasks have enough to do.
int64_t part_count(const Draft& draft, const ReduceGroup& group) {
  if (!group.row_values.empty() || !group.all_known() || group.reduced_count() == 0) return 1;
  const int lanes = summing_lanes_for(draft, group.roots());
  const int64_t wanted = wanted_tasks(draft, work_ns(draft, group.roots()));
  const int64_t units = part_units(draft, group, lanes);
  if (units == 0 || units * 2 > wanted) return 1;
  return split_tasks(split_extent(group), wanted / units, least_part(group, lanes)).tasks;
}

void lower_partial_results(Draft& draft, const ReduceGroup& group, const PartialResults& partial) {
  const int run_lanes = group.is_rows ? summing_lanes_for(draft, group.roots()) : lanes_for(draft, group.roots());
  Step step(draft, group.run() > 1 ? run_lanes : 1);
  step.read(group.roots());
  std::vector<loops::BufferId> buffers;
  for (const int temporary : partial.temporaries) buffers.push_back(step.write_temporary(temporary));
  loops::KernelBuilder& b = step.b();
  const int lanes = b.vector_lanes();
  const TaskPiece piece =
      piece_of_task(b, part_units(draft, group, lanes), split_extent(group), partial.parts, least_part(group, lanes));
  const ReducedPart part{piece.first, piece.each, piece.is_last};
  std::vector<Accumulator> accumulators;
  if (group.is_rows) {
    const std::vector<Index> kept_index = loops::unflatten(b, piece.unit, group.kept_shape);
    for (const Op* op : group.reduces) accumulators.emplace_back(step, *op, lanes, kPartChains, true).start();
    const auto fold = [&] {
      for (Accumulator& accumulator : accumulators) accumulator.fold();
    };
    walk_row(step, group, kept_index, {.chains = kPartChains, .part = part, .after_block = fold},
             [&](const auto& index, const Index&, const Index& chain, const Expr& mask) {
               for (Accumulator& accumulator : accumulators) accumulator.take(chain, index, mask);
             });
    for (size_t k = 0; k < accumulators.size(); ++k) {
      b.store(buffers[k], partial.place(piece.index, piece.unit), accumulators[k].combined(true));
    }
  } else {
    walk_columns(step, group, piece.unit, column_vectors(draft, group),
                 [&](const std::vector<Index>& at, const Index& first, int vectors, bool is_ragged) {
                   accumulators.clear();
                   for (const Op* op : group.reduces) {
                     accumulators.emplace_back(step, *op, lanes, vectors, has_long_columns(group)).start();
                   }
                   take_columns(step, group, accumulators, at, first, vectors, is_ragged, part);
                   b.unrolled("v", vectors, [&](Index v) {
                     std::vector<Index> index = at;
                     const Index column = first + v * lanes + b.lane();
                     if (!group.run_dims.empty()) index[group.run_dims.back()] = column;
                     const Expr mask = is_ragged ? b.in_range(column, 0, group.run()) : nullptr;
                     const Index flat = loops::flatten(kept_of(group, index), group.kept_shape);
                     for (size_t k = 0; k < accumulators.size(); ++k) {
                       b.store(buffers[k], partial.place(piece.index, flat), accumulators[k].chain_value(v), mask);
                     }
                   });
                 });
  }
  step.finish();
}

void combine_partial_results(Draft& draft, const ReduceGroup& group, const PartialResults& partial) {
  const Values roots = group.roots();
  const Values makes = with_epilogue(draft, roots);
  const int lanes = group.kept_count() > 1 ? lanes_for(draft, roots) : 1;
  Step step(draft, lanes);
  for (const Op* op : group.reduces) step.read({op->operand(1)});
  step.read(makes, roots);
  loops::KernelBuilder& b = step.b();
  std::vector<Accumulator> accumulators;
  for (const Op* op : group.reduces) accumulators.emplace_back(step, *op, lanes, 1);
  combine_parts(step, partial, makes, roots, [&](const LoadPart& load) {
    for (Accumulator& accumulator : accumulators) accumulator.start();
    b.loop("part", 0, partial.parts, 1, [&](Index part) {
      for (size_t k = 0; k < accumulators.size(); ++k) accumulators[k].take_values(0, {load(k, part)}, nullptr);
    });
    for (Accumulator& accumulator : accumulators) {
      const Expr result = b.let("reduced", accumulator.result(0, accumulator.chain_value(0)));
      step.pull().answer(accumulator.op().result(), [result](const auto&, const Expr&) { return result; });
    }
  });
}

}  // namespace

void lower_in_parts(Draft& draft, const ReduceGroup& group, int64_t parts) {
  PartialResults partial{group.kept_shape, parts};
  for (const Op* op : group.reduces) partial.add(draft, loops::register_dtype(op->result()->type.dtype));
  lower_partial_results(draft, group, partial);
  combine_partial_results(draft, group, partial);
}

void lower_reduce(Draft& draft, const Op& root) {
  ReduceGroup group = space_of(root);
  gather_reduces(draft, root, group);
  if (!group.is_rows) {
    group.kept_values = with_epilogue(draft, group.roots());
    choose_run(draft, group);
  } else {
    gather_row_results(draft, group);
    choose_run(draft, group);
  }
  const bool builds_on_itself = std::ranges::any_of(group.reduces, [&](const Op* op) {
    return std::ranges::any_of(op->operands,
                               [&](const Value* operand) { return needs_other_root(draft, operand, {}); });
  });
  const int64_t parts = builds_on_itself ? 1 : part_count(draft, group);
  if (parts > 1) return lower_in_parts(draft, group, parts);
  if (!group.is_rows) return lower_columns(draft, group);
  if (lower_rows(draft, group)) return;
  // Something reads across rows: the root alone, its result in a buffer.
  ReduceGroup alone = space_of(root);
  alone.reduces = {&root};
  for (const auto& result : root.results) alone.kept_values.push_back(result.get());
  choose_run(draft, alone);
  INGOT_CHECK(lower_rows(draft, alone));
}

}  // namespace ingot::schedule
