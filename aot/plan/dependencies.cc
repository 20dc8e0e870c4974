#include "aot/plan/dependencies.h"

#include <algorithm>

#include "aot/base/error.h"

namespace ingot::plan {

Dependencies::Dependencies(const Function& function) {
  for (const auto& op : function.body.ops) {
    if (!op->is("ingot.kernel")) continue;
    index_[op.get()] = static_cast<int>(kernels_.size());
    kernels_.push_back(op.get());
    after_.emplace_back();
    for (const Value* operand : op->operands) {
      if (operand->op && operand->op->is("ingot.kernel")) add(index_.at(operand->op), index_.at(op.get()));
    }
  }
}

void Dependencies::add(int before, int kernel) {
  auto& edges = after_[kernel];
  if (before != kernel && std::find(edges.begin(), edges.end(), before) == edges.end()) edges.push_back(before);
}

bool Dependencies::depends(int kernel, int on) const {
  std::vector<bool> seen(kernels_.size());
  std::vector<int> open = {kernel};
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
  std::vector<int> readers;
  for (const Value::Use& use : value->uses) {
    const auto found = index_.find(use.op);
    if (found != index_.end()) readers.push_back(found->second);
  }
  std::sort(readers.begin(), readers.end());
  readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
  return readers;
}

const Value* old_state(const Function& function, int i) {
  const std::string name = attr_text(function.results[i].attrs, "ingot.state");
  if (name.empty()) return nullptr;
  for (int k = 0; k < function.argument_count(); ++k) {
    if (attr_text(function.argument_attrs[k], "ingot.state") == name) return function.body.argument(k);
  }
  return nullptr;
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
