#include "aot/passes/chain/repeat_scores.h"

#include <algorithm>

#include "aot/analysis/regions.h"
#include "aot/analysis/walk.h"
#include "aot/base/contains.h"
#include "aot/passes/chain/row_statistics.h"

namespace ingot {
namespace {

constexpr int64_t kRepeatedShare = 4;  // scores of so many times the elements of what they are made of

bool is_worth_repeating(const Op& product) {
  int64_t operands = 0;
  for (const Value* operand : product.operands) operands += operand->type.elements();
  const TensorType& scores = product.result()->type;
  const int64_t batch = batch_count(product);
  return scores.elements() >= kRepeatedShare * operands && batch >= kBlocksMin &&
         scores.bytes() / batch <= kBlockScoresMax;
}

Op* first_reader_outside(const KernelChain& chain, const Values& outputs) {
  for (auto& op : chain.block().ops) {
    const bool reads = std::ranges::any_of(outputs, [&](Value* value) { return contains(op->operands, value); });
    if (reads && !chain.contains(op.get())) return op.get();
  }
  return nullptr;
}

}  // namespace

bool should_repeat(const KernelChain& chain) {
  for (const Op* member : chain.members()) {
    if (score_elements(*member) > 0 && !is_worth_repeating(*contraction_in(*member))) return false;
  }
  return std::ranges::all_of(chain.large_outputs(), [&](const Value* value) {
    return std::ranges::all_of(
        value->uses, [&](const Value::Use& use) { return use.op->block == &chain.block() && may_join_chain(*use.op); });
  });
}

void RepeatedScores::undo() const {
  for (const auto& [original, copy] : pairs) replace_all_uses(copy, original);
  for (auto copy = copies.rbegin(); copy != copies.rend(); ++copy) erase(*copy);
}

RepeatedScores repeat(KernelChain& chain) {
  const std::map<const Op*, Values> statistics = chain.give_statistics();
  const Values outputs = chain.large_outputs();
  const std::set<const Op*> makers = chain.makers_of(outputs);
  Block& block = chain.block();
  const Op* first = first_reader_outside(chain, outputs);
  RepeatedScores repeated;
  ValueMap map;
  for (auto& op : block.ops) {
    if (!makers.contains(op.get())) continue;
    repeated.copies.push_back(copy_op(*op, block, map));
    if (score_elements(*op) > 0) repeated.scores = repeated.copies.back();
    if (const auto given = statistics.find(op.get()); given != statistics.end())
      read_reduced(*repeated.copies.back(), given->second);
  }
  for (Op* copy : repeated.copies) block.ops.splice(first->self, block.ops, copy->self);
  for (Value* output : outputs) {
    repeated.pairs.emplace_back(output, map.at(output));
    const std::vector<Value::Use> uses = output->uses;
    for (const Value::Use& use : uses) {
      const bool is_inside = chain.contains(use.op) || contains(repeated.copies, use.op);
      if (!is_inside) use.op->set_operand(use.operand_index, map.at(output));
    }
  }
  return repeated;
}

}  // namespace ingot
