#include "aot/plan/order.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "aot/base/error.h"

namespace ingot::plan {
namespace {

// The bytes that live while nodes are run one by one.
class LiveBytes {
 public:
  explicit LiveBytes(const OrderProblem& problem) : problem_(problem), readers_(problem.value_bytes.size()) {
    for (const OrderNode& node : problem.nodes) {
      for (int value : node.reads) ++readers_[value];
    }
  }

  struct Effect {
    int64_t change;  // of the live bytes once the node has run
    int64_t peak;    // live bytes while it runs, above those before
  };
  Effect effect(const OrderNode& node) const {
    int64_t made = 0;
    int64_t freed = 0;
    int64_t taken_over = 0;
    for (int value : node.writes) made += problem_.value_bytes[value];
    for (int value : node.reads) {
      if (readers_[value] == 1) freed += problem_.value_bytes[value];
    }
    for (int value : node.in_place) {
      if (readers_[value] == 1) taken_over += problem_.value_bytes[value];
    }
    for (int value : node.writes) {
      if (readers_[value] == 0) freed += problem_.value_bytes[value];
    }
    return {made - freed, made + node.temporary_bytes - std::min(taken_over, made)};
  }

  void run(const OrderNode& node) {
    const Effect e = effect(node);
    peak_ = std::max(peak_, live_ + e.peak);
    live_ += e.change;
    for (int value : node.reads) --readers_[value];
  }

  int64_t live() const { return live_; }
  int64_t peak() const { return peak_; }

 private:
  const OrderProblem& problem_;
  std::vector<int> readers_;  // still to come
  int64_t live_ = 0;
  int64_t peak_ = 0;
};

// Runs, of the nodes that may run, the one with the least `key(effect)`; program order breaks ties.
template <typename Key>
std::vector<int> list_schedule(const OrderProblem& problem, Key key) {
  const int count = static_cast<int>(problem.nodes.size());
  std::vector<int> waiting(count);
  std::vector<std::vector<int>> successors(count);
  for (int i = 0; i < count; ++i) {
    waiting[i] = static_cast<int>(problem.nodes[i].after.size());
    for (int before : problem.nodes[i].after) successors[before].push_back(i);
  }
  std::set<int> ready;
  for (int i = 0; i < count; ++i) {
    if (waiting[i] == 0) ready.insert(i);
  }
  LiveBytes live(problem);
  std::vector<int> order;
  while (!ready.empty()) {
    const int next = *std::min_element(ready.begin(), ready.end(), [&](int a, int b) {
      return std::tuple(key(live.effect(problem.nodes[a])), a) < std::tuple(key(live.effect(problem.nodes[b])), b);
    });
    ready.erase(next);
    order.push_back(next);
    live.run(problem.nodes[next]);
    for (int successor : successors[next]) {
      if (--waiting[successor] == 0) ready.insert(successor);
    }
  }
  INGOT_CHECK(static_cast<int>(order.size()) == count);
  return order;
}

bool respects_edges(const OrderProblem& problem, const std::vector<int>& order) {
  std::vector<int> position(order.size());
  for (size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<int>(i);
  for (size_t i = 0; i < order.size(); ++i) {
    for (int before : problem.nodes[i].after) {
      if (position[before] > position[i]) return false;
    }
  }
  return true;
}

}  // namespace

int64_t peak_bytes(const OrderProblem& problem, const std::vector<int>& order) {
  LiveBytes live(problem);
  for (int node : order) live.run(problem.nodes[node]);
  return live.peak();
}

std::vector<int> choose_order(const OrderProblem& problem) {
  std::vector<int> program(problem.nodes.size());
  std::iota(program.begin(), program.end(), 0);
  using Effect = LiveBytes::Effect;
  std::vector<std::vector<int>> candidates = {
      list_schedule(problem, [](const Effect&) { return 0; }),  // program order, as far as the edges allow
      list_schedule(problem, [](const Effect& e) { return e.change > 0; }),
      list_schedule(problem, [](const Effect& e) { return e.change; }),
      list_schedule(problem, [](const Effect& e) { return std::max(e.change, e.peak); }),
  };
  if (respects_edges(problem, program)) candidates.push_back(program);
  return *std::min_element(candidates.begin(), candidates.end(), [&](const auto& a, const auto& b) {
    return peak_bytes(problem, a) < peak_bytes(problem, b);
  });
}

}  // namespace ingot::plan
