#include "aot/plan/order_problem.h"

#include <algorithm>
#include <map>

#include "aot/base/contains.h"
#include "aot/plan/plan.h"

namespace ingot::plan {
namespace {

using lowered::KernelCall;
using lowered::kNoValue;
using lowered::Node;
using lowered::NodeKind;

// What a node reads from outside and may write over.
std::vector<ValueId> read_in_place(const lowered::Function& function, const Node& node) {
  if (node.kind == NodeKind::kWhile) return node.operands;
  const std::vector<ValueId> temporaries = lowered::temporaries_of(node);
  std::vector<ValueId> values;
  for (const KernelCall& call : node.calls) {
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const int alias = function.kernels[call.kernel].buffers[i].may_alias;
      if (alias < 0) continue;
      const ValueId from = call.arguments[alias].value;
      const bool is_made_here = std::ranges::binary_search(temporaries, from) || contains(node.results, from);
      if (!is_made_here) values.push_back(from);
    }
  }
  return values;
}

}  // namespace

Dependencies edges_of(const lowered::Function& function, const lowered::Block& block,
                      const std::vector<ValueId>& replaced) {
  Dependencies edges(function, block);
  edges.add_in_place_writes();
  for (size_t i = 0; i < replaced.size(); ++i) {
    const ValueId value = edges.in_place_root(block.results[i]);
    if (replaced[i] == kNoValue || value == replaced[i]) continue;
    for (const int reader : edges.readers(replaced[i])) edges.add(reader, edges.maker(value));
  }
  return edges;
}

BlockOrder order_of(const lowered::Function& function, const lowered::Block& block, const Dependencies& edges,
                    const std::set<ValueId>& elsewhere) {
  BlockOrder made;
  std::map<ValueId, int> numbers;
  const auto number_of = [&](ValueId value) {
    const auto [at, is_new] = numbers.emplace(value, static_cast<int>(made.values.size()));
    if (is_new) {
      const ValueId first = edges.in_place_root(value);
      const bool is_in_arena = edges.maker(first) >= 0 && !elsewhere.contains(first);
      made.values.push_back(value);
      made.problem.value_bytes.push_back(is_in_arena ? align_up(function.type(value).bytes()) : 0);
    }
    return at->second;
  };
  for (int k = 0; k < edges.node_count(); ++k) {
    const Node& node = block.nodes[k];
    OrderNode& to = made.problem.nodes.emplace_back();
    to.after = edges.after(k);
    for (const ValueId read : edges.reads(k)) to.reads.push_back(number_of(read));
    for (const ValueId result : node.results) to.writes.push_back(number_of(result));
    for (const ValueId temporary : lowered::temporaries_of(node)) {
      to.temporary_bytes += align_up(function.type(temporary).bytes());
    }
    for (const ValueId value : read_in_place(function, node)) to.in_place.push_back(number_of(value));
  }
  return made;
}

}  // namespace ingot::plan
