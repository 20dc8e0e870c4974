#include "aot/plan/fit_arena.h"

#include <algorithm>
#include <map>
#include <set>

#include "aot/base/contains.h"
#include "aot/plan/order_problem.h"
#include "aot/plan/plan.h"
#include "aot/plan/recompute.h"
#include "aot/plan/rename.h"

namespace ingot::plan {
namespace {

using lowered::Block;
using lowered::Function;
using lowered::kNoValue;
using lowered::Node;
using lowered::NodeKind;

// A block and what its nodes need, those inside of loops and branches included.
class BlockNeeds {
 public:
  BlockNeeds(const Function& function, const Block& block, const std::vector<ValueId>& replaced)
      : edges_(edges_of(function, block, replaced)), order_(order_of(function, block, edges_, places(block))) {
    for (size_t node = 0; node < block.nodes.size(); ++node) {
      order_.problem.nodes[node].temporary_bytes += bytes_inside(function, block.nodes[node]);
    }
  }

  const Dependencies& edges() const { return edges_; }
  const BlockOrder& order() const { return order_; }

 private:
  // Where the block's results belong, which is outside of it.
  std::set<ValueId> places(const Block& block) const {
    std::set<ValueId> first;
    for (const ValueId result : block.results) first.insert(edges_.in_place_root(result));
    return first;
  }

  static int64_t bytes_inside(const Function& function, const Node& node) {
    int64_t most = 0;
    for (const Block& region : node.regions) {
      const bool is_body = node.kind == NodeKind::kWhile && &region == &node.regions.back();
      const BlockNeeds needs(function, region, is_body ? region.arguments : std::vector<ValueId>());
      const OrderProblem& problem = needs.order().problem;
      most = std::max(most, peak_bytes(problem, choose_order(problem)));
    }
    return most;
  }

  Dependencies edges_;
  BlockOrder order_;
};

bool may_run_again(const Function& function, const Node& node) {
  return node.kind == NodeKind::kCall && std::ranges::all_of(node.results, [&](ValueId result) {
           return lowered::predecessor(function, node, result) == kNoValue;
         });
}

// Nodes that hardly need memory run as late as they may: a counter, say, which others read before it is overwritten, and
// may then read again.
void sink_small(const OrderProblem& problem, int64_t small_bytes, std::vector<int>& order) {
  const auto bytes_of = [&](const OrderNode& node) {
    int64_t bytes = node.temporary_bytes;
    for (const int value : node.reads) bytes += problem.value_bytes[value];
    for (const int value : node.writes) bytes += problem.value_bytes[value];
    return bytes;
  };
  for (auto at = order.end(); at != order.begin();) {
    --at;
    const int node = *at;
    if (bytes_of(problem.nodes[node]) > small_bytes) continue;
    const auto needs_it = [&](int later) { return contains(problem.nodes[later].after, node); };
    std::rotate(at, at + 1, std::find_if(at + 1, order.end(), needs_it));
  }
}

// Puts the nodes of the body into the order in which they need least.
void sort_body(Function& function, int64_t limit_bytes) {
  constexpr int64_t kSmallShare = 1024;  // of the limit
  const BlockNeeds needs(function, function.body, lowered::replaced_state(function));
  const OrderProblem& problem = needs.order().problem;
  std::vector<int> order = choose_order(problem);
  sink_small(problem, limit_bytes / kSmallShare, order);
  std::vector<Node> sorted;
  for (const int node : order) sorted.push_back(std::move(function.body.nodes[node]));
  function.body.nodes = std::move(sorted);
}

// Of each value of the problem, the node that writes in its place.
std::vector<int> overwriters(const Function& function, const BlockNeeds& needs) {
  std::map<ValueId, int> writers;
  const Block& body = function.body;
  for (int node = 0; node < std::ssize(body.nodes); ++node) {
    for (const ValueId result : body.nodes[node].results) {
      const ValueId old = lowered::predecessor(function, body.nodes[node], result);
      if (old != kNoValue) writers[old] = node;
    }
  }
  const std::vector<ValueId> replaced = lowered::replaced_state(function);
  for (size_t i = 0; i < replaced.size(); ++i) {
    const ValueId first = needs.edges().in_place_root(body.results[i]);
    if (replaced[i] != kNoValue && first != replaced[i]) writers[replaced[i]] = needs.edges().maker(first);
  }
  std::vector<int> overwritten_by;
  for (const ValueId value : needs.order().values) {
    const auto found = writers.find(value);
    overwritten_by.push_back(found == writers.end() ? -1 : found->second);
  }
  return overwritten_by;
}

RecomputeProblem problem_of(const Function& function, const BlockNeeds& needs,
                            const std::function<double(const Node&)>& node_ns) {
  RecomputeProblem problem;
  problem.order = needs.order().problem;
  for (const Node& node : function.body.nodes) {
    problem.node_ns.push_back(may_run_again(function, node) ? node_ns(node) : RecomputeProblem::kOnce);
  }
  for (const ValueId value : needs.order().values) {
    problem.again_bytes.push_back(align_up(function.type(value).bytes()));
  }
  problem.overwritten_by = overwriters(function, needs);
  return problem;
}

// The body becomes these runs of its nodes.
void rewrite(Function& function, const Runs& runs, const std::vector<ValueId>& values) {
  const std::vector<Node> nodes = std::move(function.body.nodes);
  function.body.nodes.clear();
  std::set<int> seen;
  Renaming newest;
  for (const Run& run : runs) {
    const Node& node = nodes[run.node];
    if (seen.insert(run.node).second) {
      rename(function.body.nodes.emplace_back(node), newest);
      continue;
    }
    Renaming names = newest;
    function.body.nodes.push_back(made_again(function, node, names));
    for (const int value : run.makes) newest[values[value]] = names.at(values[value]);
  }
  verify(function);
}

}  // namespace

std::optional<std::vector<MadeAgain>> fit_arena(Function& function, int64_t limit_bytes,
                                                const std::function<double(const Node&)>& node_ns) {
  Function fitted = function;
  sort_body(fitted, limit_bytes);
  const BlockNeeds needs(fitted, fitted.body, lowered::replaced_state(fitted));
  const RecomputeProblem problem = problem_of(fitted, needs, node_ns);
  const std::optional<Runs> runs = recompute(problem, limit_bytes);
  if (!runs) return std::nullopt;
  std::vector<MadeAgain> again;
  std::map<int, int> times;
  for (const Run& run : *runs) ++times[run.node];
  for (const auto& [node, count] : times) {
    if (count > 1) again.push_back({fitted.body.nodes[node].graph_kernel, count - 1, problem.node_ns[node]});
  }
  rewrite(fitted, *runs, needs.order().values);
  function = std::move(fitted);
  return again;
}

int64_t least_arena_bytes(const Function& function) {
  const BlockNeeds needs(function, function.body, lowered::replaced_state(function));
  const OrderProblem& problem = needs.order().problem;
  int64_t most = 0;
  for (const OrderNode& node : problem.nodes) {
    int64_t bytes = node.temporary_bytes;
    int64_t taken_over = 0, made = 0;
    for (const int value : node.reads) bytes += problem.value_bytes[value];
    for (const int value : node.writes) made += problem.value_bytes[value];
    for (const int value : node.in_place) taken_over += problem.value_bytes[value];
    most = std::max(most, bytes + made - std::min(made, taken_over));
  }
  return most;
}

}  // namespace ingot::plan
