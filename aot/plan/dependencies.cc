#include "aot/plan/dependencies.h"

#include <algorithm>

#include "aot/analysis/walk.h"
#include "aot/base/contains.h"
#include "aot/base/error.h"
#include "aot/ops/ops.h"

namespace ingot::plan {

bool is_node(const Op& op) { return op.is(kKernel) || is_control_flow(op); }

Dependencies::Dependencies(const Block& block) {
  for (const auto& op : block.ops) {
    if (!is_node(*op)) continue;
    const int node = static_cast<int>(nodes_.size());
    index_[op.get()] = node;
    nodes_.push_back(op.get());
    after_.emplace_back();
    Values& reads = reads_.emplace_back(op->operands);
    for (const auto& region : op->regions) {
      const Values captured = captured_values(*region);
      reads.insert(reads.end(), captured.begin(), captured.end());
    }
    std::ranges::sort(reads);
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    for (const Value* value : reads) {
      readers_[value].push_back(node);
      if (const auto writer = index_.find(value->op); writer != index_.end()) add(writer->second, node);
    }
  }
}

void Dependencies::add(int before, int node) {
  auto& edges = after_[node];
  if (before != node && !contains(edges, before)) edges.push_back(before);
}

bool Dependencies::depends(int node, int on) const {
  std::vector<bool> seen(nodes_.size());
  std::vector<int> open = {node};
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    if (at == on) return true;
    if (seen[at]) continue;
    seen[at] = true;
    open.insert(open.end(), after_[at].begin(), after_[at].end());
  }
  return false;
}

std::vector<int> Dependencies::readers(const Value* value) const {
  const auto found = readers_.find(value);
  return found == readers_.end() ? std::vector<int>() : found->second;
}

Value* predecessor(const Value* result, const LoweringOf& lowering) {
  const Op* op = result->op;
  if (!op) return nullptr;
  if (op->is(kWhile)) return op->operand(result->index);
  if (!op->is(kKernel)) return nullptr;
  for (const LoweredKernel& step : lowering(*op).steps) {
    for (size_t i = 0; i < step.bindings.size(); ++i) {
      const KernelBinding& binding = step.bindings[i];
      if (!binding.is_update || binding.index != result->index) continue;
      return op->operand(step.bindings[step.kernel.buffers[i].may_alias].index);
    }
  }
  return nullptr;
}

const Value* first_in_place(const Value* value, const LoweringOf& lowering) {
  const Block* block = value->op ? value->op->block : nullptr;
  while (const Value* before = predecessor(value, lowering)) {
    if (before->op ? before->op->block != block : before->block != block) break;
    value = before;
  }
  return value;
}

void add_takeovers(Dependencies& dependencies, const LoweringOf& lowering) {
  for (const Op* op : dependencies.nodes()) {
    for (const auto& result : op->results) {
      const Value* before = predecessor(result.get(), lowering);
      if (!before) continue;
      for (int reader : dependencies.readers(before)) dependencies.add(reader, dependencies.index_of(op));
    }
  }
}

bool may_replace(const Op& op, int result, const Value* old, const Lowering& lowering) {
  bool written = false;
  for (const LoweredKernel& step : lowering.steps) {
    int output = -1;
    std::vector<int> inputs;
    for (size_t i = 0; i < step.bindings.size(); ++i) {
      const KernelBinding& binding = step.bindings[i];
      if (binding.kind == KernelBinding::Kind::kResult && binding.index == result) output = static_cast<int>(i);
      if (binding.kind == KernelBinding::Kind::kOperand && op.operand(binding.index) == old) {
        inputs.push_back(static_cast<int>(i));
      }
    }
    if (written && !inputs.empty()) return false;
    if (output < 0) continue;
    written = true;
    if (inputs.size() > 1) return false;
    if (inputs.size() == 1 && step.kernel.buffers[output].may_alias != inputs[0]) return false;
  }
  return true;
}

}  // namespace ingot::plan
