#include "aot/plan/dependencies.h"

#include <algorithm>

#include "aot/base/contains.h"

namespace ingot::plan {

using lowered::Access;
using lowered::kNoValue;
using lowered::Node;
using lowered::NodeKind;

Dependencies::Dependencies(const lowered::Function& function, const lowered::Block& block)
    : after_(block.nodes.size()), arguments_(block.arguments) {
  for (int node = 0; node < node_count(); ++node) {
    const Node& at = block.nodes[node];
    for (const ValueId value : reads_.emplace_back(lowered::read_by(at))) {
      readers_[value].push_back(node);
      if (maker(value) >= 0) add(maker(value), node);
    }
    for (const ValueId result : at.results) {
      makers_[result] = node;
      const ValueId before = lowered::predecessor(function, at, result);
      if (before != kNoValue) predecessors_[result] = before;
    }
  }
}

int Dependencies::maker(ValueId value) const {
  const auto found = makers_.find(value);
  return found == makers_.end() ? -1 : found->second;
}

const std::vector<int>& Dependencies::readers(ValueId value) const {
  static const std::vector<int> kNone;
  const auto found = readers_.find(value);
  return found == readers_.end() ? kNone : found->second;
}

void Dependencies::add(int before, int node) {
  auto& edges = after_[node];
  if (before != node && !contains(edges, before)) edges.push_back(before);
}

bool Dependencies::depends(int node, int on) const {
  std::vector<bool> seen(after_.size());
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

void Dependencies::add_in_place_writes() {
  for (const auto& [result, before] : predecessors_) {
    for (const int reader : readers(before)) add(reader, makers_.at(result));
  }
}

ValueId Dependencies::predecessor(ValueId value) const {
  const auto found = predecessors_.find(value);
  return found == predecessors_.end() ? kNoValue : found->second;
}

ValueId Dependencies::in_place_root(ValueId value) const {
  while (true) {
    const ValueId before = predecessor(value);
    const bool is_of_this_block = maker(before) >= 0 || contains(arguments_, before);
    if (before == kNoValue || !is_of_this_block) return value;
    value = before;
  }
}

bool may_replace(const lowered::Function& function, const Node& node, ValueId result, ValueId old) {
  if (node.kind == NodeKind::kCopy) return true;
  bool is_written = false;
  for (const lowered::KernelCall& call : node.calls) {
    const auto index_of = [&](ValueId value) {
      return static_cast<int>(std::ranges::find(call.arguments, value, &lowered::Argument::value) -
                              call.arguments.begin());
    };
    const auto count = static_cast<int>(call.arguments.size());
    const int output = index_of(result), input = index_of(old);
    if (is_written && input < count) return false;
    if (output == count) continue;
    is_written = true;
    if (input < count && function.kernels[call.kernel].buffers[output].may_alias != input) return false;
  }
  return true;
}

}  // namespace ingot::plan
