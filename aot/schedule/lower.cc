#include "aot/schedule/lower.h"

#include <algorithm>

#include "aot/base/contains.h"
#include "aot/graph/op.h"
#include "aot/loops/settle_nans.h"
#include "aot/ops/ops.h"
#include "aot/schedule/blocks.h"
#include "aot/schedule/contraction/multiply_pairs.h"
#include "aot/schedule/reduce/reshaped_rows.h"
#include "aot/schedule/templates.h"

namespace ingot {
namespace {

using schedule::Draft;

// The template of each kind of root op.
struct Template {
  KernelRoot root;
  void (*lower)(Draft& draft, const Op& root);
};
constexpr Template kTemplates[] = {
    {KernelRoot::kReduce, schedule::lower_reduce},
    {KernelRoot::kContraction, schedule::lower_contraction},
    {KernelRoot::kWindow, schedule::lower_window},
    {KernelRoot::kSelectScatter, schedule::lower_select_scatter},
    {KernelRoot::kScatter, schedule::lower_scatter},
    {KernelRoot::kSort, schedule::lower_sort},
    {KernelRoot::kTopK, schedule::lower_top_k},
    {KernelRoot::kCholesky, schedule::lower_cholesky},
    {KernelRoot::kTriangularSolve, schedule::lower_triangular_solve},
    {KernelRoot::kControlFlow, schedule::lower_element_loop},
};

const Template* find_template(const Op& op) {
  if (op.def->is_terminator || op.def->has_elements()) return nullptr;
  const auto found = std::ranges::find(kTemplates, op.def->root, &Template::root);
  if (found == std::end(kTemplates)) throw_limit(op.location, std::string(op.name()) + ": cannot be compiled yet");
  return found;
}

Lowering lower_roots(const Op& kernel, const loops::Target& target, const LowerOptions& options) {
  Draft draft(kernel, target, options);
  for (const auto& op : draft.body().ops) {
    const Template* found = find_template(*op);
    // A template may make several roots at once.
    if (!found) continue;
    const bool is_needed = std::ranges::any_of(draft.body().terminator()->operands, [&](const Value* value) {
      return !draft.is_made(value) &&
             std::ranges::any_of(op->results, [&](const auto& result) { return draft.needs(value, result.get()); });
    });
    const bool is_made =
        std::ranges::all_of(op->results, [&](const auto& result) { return draft.is_made(result.get()); });
    if (is_needed && !is_made) found->lower(draft, *op);
  }
  // What is left needs only elementwise work: one step for each shape.
  Values left;
  for (Value* value : draft.body().terminator()->operands) {
    const bool is_operand = value->block != nullptr;
    if ((is_operand || !draft.is_made(value)) && !contains(left, value)) left.push_back(value);
  }
  while (!left.empty()) {
    Values alike;
    for (Value* value : left) {
      if (draft.source(value)->type.shape == draft.source(left[0])->type.shape) alike.push_back(value);
    }
    schedule::lower_elementwise(draft, alike);
    std::erase_if(left, [&](Value* value) { return contains(alike, value); });
  }
  return draft.finish();
}

Lowering with_settled_nans(Lowering lowering) {
  for (LoweredKernel& step : lowering.steps) loops::settle_nans(step.kernel);
  return lowering;
}

bool has_stages(const Op& kernel) {
  return std::ranges::any_of(kernel.region().ops, [](const auto& op) { return op->attr_map.contains(kStage); });
}

}  // namespace

Lowering lower(const Op& kernel, const loops::Target& target, const LowerOptions& options) {
  INGOT_CHECK(kernel.is(kKernel));
  std::optional<Lowering> made;
  if (const std::optional<KernelBlocks> blocks = blocks_of(kernel)) {
    made = schedule::lower_in_blocks(kernel, *blocks, target, options);
    if (!made) return schedule::lower_stages(kernel, target, options);
  }
  if (!made && has_stages(kernel)) return schedule::lower_stages(kernel, target, options);
  if (!made) {
    std::unique_ptr<Block> changed = schedule::in_pairs(kernel, target);
    if (!changed) changed = schedule::without_reshapes_of_rows(kernel);
    made = lower_roots(changed ? *changed->ops.front() : kernel, target, options);
  }
  return target.is_strict() ? with_settled_nans(*std::move(made)) : *std::move(made);
}

}  // namespace ingot
