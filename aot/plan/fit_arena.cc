#include "aot/plan/fit_arena.h"

#include <algorithm>
#include <map>
#include <numeric>
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

// A block within a node, whose results are made in the place of `replaced`.
struct Region {
  const Block* block;
  std::vector<ValueId> replaced;
};

std::vector<Region> regions_of(const Node& node) {
  std::vector<Region> regions;
  for (const Block& block : node.regions) {
    const bool is_body = node.kind == NodeKind::kWhile && &block == &node.regions.back();
    regions.push_back({&block, is_body ? block.arguments : std::vector<ValueId>()});
  }
  return regions;
}

// Where the block's results belong, which is outside of it.
std::set<ValueId> places_of(const Block& block, const Dependencies& edges) {
  std::set<ValueId> first;
  for (const ValueId result : block.results) first.insert(edges.in_place_root(result));
  return first;
}

// A block and what its nodes need, those inside of loops and branches included.
class BlockNeeds {
 public:
  BlockNeeds(const Function& function, const Block& block, const std::vector<ValueId>& replaced)
      : edges_(edges_of(function, block, replaced)),
        order_(order_of(function, block, edges_, places_of(block, edges_))) {
    for (size_t node = 0; node < block.nodes.size(); ++node) {
      order_.problem.nodes[node].temporary_bytes += bytes_inside(function, block.nodes[node]);
    }
  }

  const Dependencies& edges() const { return edges_; }
  const BlockOrder& order() const { return order_; }

 private:
  static int64_t bytes_inside(const Function& function, const Node& node) {
    int64_t most = 0;
    for (const Region& region : regions_of(node)) {
      const BlockNeeds needs(function, *region.block, region.replaced);
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

// Of each value of the problem, the node that writes in its place.
std::vector<int> overwriters(const Function& function, const Block& block, const std::vector<ValueId>& replaced,
                             const BlockNeeds& needs) {
  std::map<ValueId, int> writers;
  for (int node = 0; node < std::ssize(block.nodes); ++node) {
    for (const ValueId result : block.nodes[node].results) {
      const ValueId old = lowered::predecessor(function, block.nodes[node], result);
      if (old != kNoValue) writers[old] = node;
    }
  }
  for (size_t i = 0; i < replaced.size(); ++i) {
    const ValueId first = needs.edges().in_place_root(block.results[i]);
    if (replaced[i] != kNoValue && first != replaced[i]) writers[replaced[i]] = needs.edges().maker(first);
  }
  std::vector<int> overwritten_by;
  for (const ValueId value : needs.order().values) {
    const auto found = writers.find(value);
    overwritten_by.push_back(found == writers.end() ? -1 : found->second);
  }
  return overwritten_by;
}

// Bytes that are alive while a node runs beside what it takes for that time only, the nodes in their order.
int64_t bytes_beside(OrderProblem problem, int node) {
  std::vector<int> order(problem.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  const int64_t most = peak_bytes(problem, order);
  problem.nodes[node].temporary_bytes = most;
  return peak_bytes(problem, order) - most;
}

// Fits blocks of a function, the bodies of loops before what is around them.
class ArenaFit {
 public:
  ArenaFit(Function& function, const std::function<double(const Node&)>& node_ns)
      : function_(function), node_ns_(node_ns) {}

  bool run(int64_t limit_bytes) { return fit(function_.body, lowered::replaced_state(function_), limit_bytes); }
  std::vector<MadeAgain> again() && { return std::move(again_); }

 private:
  // Results of the block are made in the place of `replaced`.
  bool fit(Block& block, const std::vector<ValueId>& replaced, int64_t limit_bytes) {
    sort(block, replaced, limit_bytes);
    for (int node = 0; node < std::ssize(block.nodes); ++node) {
      if (block.nodes[node].kind == NodeKind::kWhile) fit_loop(block, replaced, node, limit_bytes);
    }
    const BlockNeeds needs(function_, block, replaced);
    const RecomputeProblem problem = problem_of(block, replaced, needs);
    const std::optional<Runs> runs = recompute(problem, limit_bytes);
    if (!runs) return false;
    std::map<int, int> times;
    for (const Run& run : *runs) ++times[run.node];
    for (const auto& [node, count] : times) {
      if (count > 1) again_.push_back({block.nodes[node].graph_kernel, count - 1, problem.node_ns[node]});
    }
    rewrite(block, *runs, needs.order().values);
    return true;
  }

  // The body has what is left beside the loop. Where it does not fit there, it stays as it is.
  void fit_loop(Block& block, const std::vector<ValueId>& replaced, int node, int64_t limit_bytes) {
    const BlockNeeds needs(function_, block, replaced);
    const int64_t left_bytes = limit_bytes - bytes_beside(needs.order().problem, node);
    if (needs.order().problem.nodes[node].temporary_bytes <= left_bytes) return;
    Block& body = block.nodes[node].regions.back();
    Block fitted = body;
    const size_t noted = again_.size();
    if (fit(fitted, fitted.arguments, left_bytes)) {
      body = std::move(fitted);
    } else {
      again_.resize(noted);
    }
  }

  // Puts the nodes of a block into the order in which they need least.
  void sort(Block& block, const std::vector<ValueId>& replaced, int64_t limit_bytes) const {
    constexpr int64_t kSmallShare = 1024;  // of the limit
    const BlockNeeds needs(function_, block, replaced);
    const OrderProblem& problem = needs.order().problem;
    std::vector<int> order = choose_order(problem);
    sink_small(problem, limit_bytes / kSmallShare, order);
    std::vector<Node> sorted;
    for (const int node : order) sorted.push_back(std::move(block.nodes[node]));
    block.nodes = std::move(sorted);
  }

  RecomputeProblem problem_of(const Block& block, const std::vector<ValueId>& replaced, const BlockNeeds& needs) const {
    RecomputeProblem problem;
    problem.order = needs.order().problem;
    for (const Node& node : block.nodes) {
      problem.node_ns.push_back(may_run_again(function_, node) ? node_ns_(node) : RecomputeProblem::kOnce);
    }
    for (const ValueId value : needs.order().values) {
      problem.again_bytes.push_back(align_up(function_.type(value).bytes()));
    }
    problem.overwritten_by = overwriters(function_, block, replaced, needs);
    return problem;
  }

  // The block becomes these runs of its nodes.
  void rewrite(Block& block, const Runs& runs, const std::vector<ValueId>& values) {
    const std::vector<Node> nodes = std::move(block.nodes);
    block.nodes.clear();
    std::set<int> seen;
    Renaming newest;
    for (const Run& run : runs) {
      const Node& node = nodes[run.node];
      if (seen.insert(run.node).second) {
        rename(block.nodes.emplace_back(node), newest);
        continue;
      }
      Renaming names = newest;
      Node& again = block.nodes.emplace_back(made_again(function_, node, names));
      again.hoistable_calls = 0;  // what they make before a loop would be kept all through it
      for (const int value : run.makes) newest[values[value]] = names.at(values[value]);
    }
  }

  Function& function_;
  const std::function<double(const Node&)>& node_ns_;
  std::vector<MadeAgain> again_;
};

// The most bytes that one node of a block needs at once, and within loops and branches.
int64_t least_bytes(const Function& function, const Block& block, const std::vector<ValueId>& replaced) {
  const Dependencies edges = edges_of(function, block, replaced);
  const OrderProblem problem = order_of(function, block, edges, places_of(block, edges)).problem;
  int64_t most = 0;
  for (size_t i = 0; i < problem.nodes.size(); ++i) {
    const OrderNode& node = problem.nodes[i];
    int64_t bytes = node.temporary_bytes, taken_over = 0, made = 0, inside = 0;
    for (const int value : node.reads) bytes += problem.value_bytes[value];
    for (const int value : node.writes) made += problem.value_bytes[value];
    for (const int value : node.in_place) taken_over += problem.value_bytes[value];
    for (const Region& region : regions_of(block.nodes[i])) {
      inside = std::max(inside, least_bytes(function, *region.block, region.replaced));
    }
    most = std::max(most, bytes + inside + made - std::min(made, taken_over));
  }
  return most;
}

}  // namespace

std::optional<std::vector<MadeAgain>> fit_arena(Function& function, int64_t limit_bytes,
                                                const std::function<double(const Node&)>& node_ns) {
  Function fitted = function;
  ArenaFit fit(fitted, node_ns);
  if (!fit.run(limit_bytes)) return std::nullopt;
  verify(fitted);
  function = std::move(fitted);
  return std::move(fit).again();
}

int64_t least_arena_bytes(const Function& function) {
  return least_bytes(function, function.body, lowered::replaced_state(function));
}

}  // namespace ingot::plan
