// Attention as it is written: scores (a product for each batch and head, larger than both its operands), what is done
// to their rows, and products with them. The kernels that make or read scores, or tensors of that size, become one.
#include <algorithm>

#include "aot/analysis/block_region.h"
#include "aot/analysis/regions.h"
#include "aot/analysis/walk.h"
#include "aot/base/contains.h"
#include "aot/passes/chain/chained_axes.h"
#include "aot/passes/chain/kernel_chain.h"
#include "aot/passes/chain/repeat_scores.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

constexpr int64_t kRowsMin = 24;  // of a block, so that register tiles are full

// Rows of a block: so many that packing the other operand is little beside multiplying by it, as far as what a block
// hands on stays near the second-level cache and every thread has work.
int64_t rows_of_block(int64_t rows, int64_t row_bytes, int64_t batch, const loops::Machine& machine) {
  const auto fits = [&](int64_t block) { return block * row_bytes <= 2 * machine.l2_bytes; };
  const auto is_shared = [&](int64_t block) { return batch * (rows / block) >= machine.tasks_max; };
  int64_t best = rows;
  for (int64_t block = rows; block >= kRowsMin; --block) {
    if (rows % block != 0) continue;
    best = block;
    if (fits(block) && is_shared(block)) break;
  }
  return best;
}

std::optional<KernelBlocks> blocks_for(const Op& kernel, const loops::Machine& machine) {
  const auto is_score = [](const auto& op) {
    return op->def->root == KernelRoot::kContraction && std::ranges::all_of(op->operands, [&](const Value* operand) {
             return operand->type.elements() < op->result()->type.elements();
           });
  };
  const auto& ops = kernel.region().ops;
  const auto scores = std::ranges::find_if(ops, is_score);
  if (scores == ops.end()) return std::nullopt;
  const std::optional<ChainedAxes> found = chained_axes(kernel, **scores);
  if (!found) return std::nullopt;
  KernelBlocks blocks;
  blocks.result_axes = found->result_axes;
  int64_t batch = 1;
  for (const int64_t extent : found->batch) {
    blocks.axes.push_back({extent, 1});
    batch *= extent;
  }
  const TensorType& type = (*scores)->result()->type;
  int64_t bytes = type.bytes() / batch;
  if (found->rows > 0) {
    const int64_t rows = rows_of_block(found->rows, bytes / found->rows, batch, machine);
    blocks.axes.push_back({found->rows, rows});
    bytes = bytes / found->rows * rows;
  }
  if (bytes > kBlockScoresMax || blocks.count() < kBlocksMin) return std::nullopt;
  return blocks;
}

// The chain as one kernel in blocks; null where it cannot be.
Op* chained(KernelChain& chain, const loops::Machine& machine) {
  if (!chain.is_chain() || !chain.large_outputs().empty()) return nullptr;
  Op* kernel = chain.merge();
  const std::optional<KernelBlocks> blocks = blocks_for(*kernel, machine);
  if (!blocks || !block_region(*kernel, *blocks)) {
    erase(kernel);
    return nullptr;
  }
  set_blocks(*kernel, *blocks);
  return kernel;
}

bool chain_from(Block& block, Op& scores, const loops::Machine& machine) {
  KernelChain chain(block, scores);
  if (Op* kernel = chained(chain, machine)) {
    chain.replace_by(*kernel);
    return true;
  }
  return false;
}

// Makes the chain's large outputs again for those who read them, where they become a chain by that.
bool repeat_for_readers(Block& block, Op& scores, const loops::Machine& machine) {
  KernelChain chain(block, scores);
  if (!chain.is_chain() || chain.large_outputs().empty() || !should_repeat(chain)) return false;
  const RepeatedScores repeated = repeat(chain);
  if (!repeated.scores || !chain_from(block, *repeated.scores, machine)) {
    repeated.undo();
    return false;
  }
  std::vector<Op*> originals;
  for (const auto& [original, copy] : repeated.pairs) {
    if (!contains(originals, original->op)) originals.push_back(original->op);
  }
  for (Op* original : originals) {
    if (!original->has_uses()) erase(original);
  }
  return true;
}

bool chain_kernels(Block& block, PassContext& context) {
  const loops::Machine& machine = context.target->machine;
  bool changed = false;
  std::vector<Op*> starts;
  for (auto& op : block.ops) {
    if (may_join_chain(*op) && score_elements(*op) > 0) starts.push_back(op.get());
  }
  for (Op* start : starts) {
    const auto is_start = [&](const auto& op) { return op.get() == start; };
    if (std::ranges::none_of(block.ops, is_start)) continue;
    changed |= repeat_for_readers(block, *start, machine);
    changed |= chain_from(block, *start, machine);
  }
  return changed;
}

}  // namespace

bool chain_kernels(Module& module, PassContext& context) {
  bool changed = false;
  for (auto& function : module.functions) {
    for_each_block(function->body, [&](Block& block) {
      const bool is_body = !block.parent_op || is_control_flow(*block.parent_op);
      if (is_body) changed |= chain_kernels(block, context);
    });
  }
  return changed;
}

}  // namespace ingot
