// dot_general and convolution, with the elementwise ops that follow.
#include <algorithm>

#include "aot/analysis/spread_windows.h"
#include "aot/base/contains.h"
#include "aot/ops/ops.h"
#include "aot/schedule/contraction/choose.h"
#include "aot/schedule/contraction/nest.h"
#include "aot/schedule/contraction/nibble_product.h"
#include "aot/schedule/contraction/packing.h"
#include "aot/schedule/partial_results.h"
#include "aot/schedule/rows_ahead.h"
#include "aot/schedule/sweep.h"
#include "aot/schedule/templates.h"

namespace ingot::schedule {
namespace {

using loops::Expr;
using loops::Index;

constexpr int64_t kFewOps = 8;
constexpr int kFewFlops = 12;  // of an element: more than a bias and a simple activation

// Answers for the contraction's result with a sum in the accumulators' dtype.
void answer_with(Step& step, const Value* result, const Expr& sum) {
  loops::KernelBuilder& b = step.b();
  const DType dtype = result->type.dtype;
  Expr value = b.convert(loops::register_dtype(dtype), sum);
  if (loops::register_dtype(dtype) != dtype) value = b.round(dtype, value);
  step.pull().answer(result, [value = b.let("sum", value)](const auto&, const Expr&) { return value; });
}

// Whether everything that is made can be made at an index that runs past its extent in the innermost dimension.
bool is_linear(const Draft& draft, const ContractionPlan& plan, const Values& makes, const Values& roots) {
  size_t dims = 0;
  for (size_t k = plan.columns.cut; k < plan.columns.axes.size(); ++k) dims += plan.columns.axes[k].dims.size();
  for (const Value* value : makes) {
    if (merged_dims(draft, value, roots) < static_cast<int>(dims)) return false;
  }
  return true;
}

// Whether what follows the contraction is many operations: an optimizer's update, not a bias and an activation.
bool has_many_ops(const Op& root) {
  const auto computes = [](const auto& op) { return op->def->is_elementwise && op->def->flops > 0; };
  return std::ranges::count_if(root.block->ops, computes) > kFewOps;
}

// Whether what follows takes longer element by element, as sums along the depth leave registers, than in a step of its own.
bool finishes_apart(const ContractionPlan& plan, const Op& root) {
  int flops = 0;
  for (const auto& op : root.block->ops) {
    if (op->def->is_elementwise) flops += op->def->flops;
  }
  return plan.depth_parts > 1 || (plan.is_along_depth() && flops > kFewFlops);
}

// Buffers with an element for each of the contraction's result, which what follows reads or writes; not those that are
// written in the place of one that is read. None where caches have them.
std::vector<loops::BufferId> touched_beside(Step& step, const Op& root, const Values& makes) {
  std::vector<loops::BufferId> buffers;
  if (root.result()->type.bytes() < step.draft().target().machine.l2_bytes / 8) return buffers;
  const auto take = [&](const Value* value, loops::BufferId buffer) {
    if (value->type.shape == root.result()->type.shape) buffers.push_back(buffer);
  };
  for (const auto& [value, buffer] : step.inputs()) {
    if (!contains(root.operands, value)) take(value, buffer);
  }
  for (const Value* value : makes) {
    const loops::BufferId output = step.output(value);
    if (!contains(buffers, step.b().kernel().buffers[output].may_alias)) take(value, output);
  }
  std::ranges::sort(buffers);
  return buffers;
}

// What follows reads of larger arrays, an element for each of the contraction's result, where data says: as a step of a
// recurrence reads its inputs.
Values rows_beside(const Draft& draft, const Op& root) {
  Values rows;
  for (const auto& op : root.block->ops) {
    if (!op->is(kDynamicSlice) || op->operand(0)->op || !is_far(draft, op->operand(0)->type)) continue;
    const std::vector<Value::Use>& uses = op->result()->uses;
    Value* const row = uses.size() == 1 && uses[0].op->is(kReshape) ? uses[0].op->result() : op->result();
    if (row->type.shape == root.result()->type.shape) rows.push_back(row);
  }
  return rows;
}

// The partial sums of the parts of the depth, added in order (0 where there are none), then what follows.
void add_parts(Draft& draft, const PartialResults& partial, const Values& makes, const Values& roots, DType held) {
  Step step(draft, draft.target().lanes(held));
  step.read(makes, roots);
  combine_parts(step, partial, makes, roots, [&](const LoadPart& load) {
    Expr sum = partial.parts > 0 ? load(0, 0) : step.b().constant_int(held, 0);
    for (int64_t part = 1; part < partial.parts; ++part) {
      sum = step.b().apply(loops::ScalarOp::kAdd, {sum, load(0, part)});
    }
    answer_with(step, roots[0], sum);
  });
}

// A step that packs the columns: the temporary, or -1 where the plan has none.
int prepare_columns(Draft& draft, const Op& root, const ContractionPlan& plan) {
  if (plan.pack_columns != Packing::kPrepared) return -1;
  Value* columns = root.operand(plan.columns_operand);
  const DType held = loops::register_dtype(plan.space.factor());
  const int temporary = draft.add_temporary({held, {Panels::prepared_elements(plan)}});
  Step step(draft, plan.vector_lanes());
  step.read({columns});
  emit_preparation(step, plan, step.write_temporary(temporary));
  step.finish();
  if (plan.columns_are_hoisted) draft.set_hoistable_steps(1);
  return temporary;
}

struct Choice {
  ContractionProblem problem;
  Candidate candidate;
};

// What reading and writing takes that has an element for each of the contraction's result, but one array that is written.
int64_t epilogue_bytes(const Draft& draft, const Op& root, const Values& makes) {
  const TensorType& result = root.result()->type;
  int64_t bytes = -result.bytes();
  for (const Values& values : {makes, draft.inputs_of(makes, {root.result()})}) {
    for (const Value* value : values) bytes += value->type.shape == result.shape ? value->type.bytes() : 0;
  }
  return std::max<int64_t>(bytes, 0);
}

// Where the target keeps the sums of another, that one's choice says in which order they are; the rest is then the target's
// own, as far as it goes.
Choice choose(const Draft& draft, const Op& root, const Values& makes) {
  const loops::Target& target = draft.target();
  ContractionProblem problem = read_problem(draft, root, target.order());
  problem.epilogue_bytes = epilogue_bytes(draft, root, makes);
  const Candidate best = choose_candidate(problem, target.order(), draft.options().contraction_rank);
  const bool is_other = target.name != target.order().name;
  if (const auto order = is_other ? sum_order(problem, best) : std::nullopt) {
    ContractionProblem own = read_problem(draft, root, target);
    own.epilogue_bytes = problem.epilogue_bytes;
    if (const auto candidate = choose_candidate(own, target, *order)) return {std::move(own), *candidate};
  }
  return {std::move(problem), best};
}

}  // namespace

void lower_contraction(Draft& draft, const Op& root) {
  const Value* result = root.result();
  const Values roots{root.result()};
  const Values makes = with_epilogue(draft, roots);
  const loops::Contraction space = root.def->contraction(root);
  const DType held = loops::register_dtype(space.accumulate);
  if (std::ranges::any_of(space.dims, [](const loops::ContractionDim& dim) { return dim.extent == 0; }))
    return add_parts(draft, {result->type.shape}, makes, roots, held);
  if (const auto product = nibble_product(draft, root)) return lower_nibble_product(draft, *product);
  // What is read where it lies has to lie somewhere.
  if (root.is(kConvolution) && skips_gaps(root) && !draft.kept(root.operand(0)))
    lower_elementwise(draft, {root.operand(0)});
  const Choice choice = choose(draft, root, makes);
  draft.note_choice(to_string(choice.problem, choice.candidate));
  const ContractionPlan plan = arrange(draft, choice.problem, choice.candidate);
  const int prepared = prepare_columns(draft, root, plan);
  // What is packed already is not read again.
  const Values given = prepared < 0 ? Values{} : Values{root.operand(plan.columns_operand)};
  Step step(draft, plan.vector_lanes());
  const bool is_apart = finishes_apart(plan, root);
  step.read(is_apart ? roots : makes, given);
  const loops::BufferId packed = prepared < 0 ? loops::BufferId{-1} : step.read_temporary(prepared);
  if (is_apart) {
    PartialResults partial{result->type.shape, plan.depth_parts};
    partial.add(draft, held);
    const loops::BufferId sums = step.write_temporary(partial.temporaries[0]);
    ContractionNest nest(step, plan, {.is_linear = true}, packed);
    nest.emit([&](const std::vector<Index>& index, const Expr& sum, const Expr& mask) {
      step.b().store(sums, partial.place(nest.depth_part(), loops::flatten(index, partial.shape)), sum, mask);
    });
    step.finish();
    return add_parts(draft, partial, makes, roots, held);
  }
  step.write(makes, read_in_place(draft, makes));
  ContractionNest nest(step, plan,
                       {.is_linear = is_linear(draft, plan, makes, roots),
                        .is_rolled = has_many_ops(root),
                        .touches = touched_beside(step, root, makes),
                        .rows = rows_beside(draft, root)},
                       packed);
  nest.emit([&](const std::vector<Index>& index, const Expr& sum, const Expr& mask) {
    answer_with(step, result, sum);
    step.store_pulled(makes, index, mask);
  });
  step.finish();
}

}  // namespace ingot::schedule
