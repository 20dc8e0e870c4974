#include <algorithm>

#include "aot/analysis/regions.h"
#include "aot/analysis/replaced.h"
#include "aot/analysis/walk.h"
#include "aot/graph/attributes.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

// By result; nothing where no result takes an argument's place.
Replaced replaced_by(const Block& block) {
  if (!block.parent_op) return replaced_state(*block.parent_function);
  const bool is_body = is_loop(*block.parent_op) && &block == &block.parent_op->region(1);
  return is_body ? replaced_carried(block) : Replaced(block.terminator()->operands.size(), nullptr);
}

bool mark(Block& block) {
  bool changed = false;
  const Values& results = block.terminator()->operands;
  const Replaced replaced = replaced_by(block);
  for (int i = 0; i < std::ssize(results); ++i) {
    Op* op = results[i]->op;
    if (!op || !op->is(kKernel) || op->block != &block) continue;
    const auto operand = std::ranges::find(op->operands, replaced[i]);
    if (operand == op->operands.end()) continue;
    std::vector<int64_t> pairs = op->attrs().ints(attributes::kReplacedOperands, {});
    bool is_known = false;
    for (size_t k = 0; k < pairs.size(); k += 2) is_known |= pairs[k] == results[i]->index;
    if (is_known) continue;
    pairs.push_back(results[i]->index);
    pairs.push_back(operand - op->operands.begin());
    op->attr_map.insert_or_assign(attributes::kReplacedOperands, Attr(std::move(pairs)));
    changed = true;
  }
  return changed;
}

}  // namespace

bool mark_replaced(Module& module, PassContext&) {
  bool changed = false;
  for (auto& function : module.functions) {
    for_each_block(function->body, [&](Block& block) {
      const bool is_body = !block.parent_op || is_control_flow(*block.parent_op);
      if (is_body) changed |= mark(block);
    });
  }
  return changed;
}

}  // namespace ingot
