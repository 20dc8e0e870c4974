// What is computed again: any runs that are found are replayed, and on a chain they are compared with the best there is.
#include "aot/plan/recompute.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

namespace ingot::plan {
namespace {

class ProblemMaker {
 public:
  int value(int64_t bytes, int64_t again_bytes) {
    problem.order.value_bytes.push_back(bytes);
    problem.again_bytes.push_back(again_bytes);
    problem.overwritten_by.push_back(-1);
    return static_cast<int>(problem.overwritten_by.size()) - 1;
  }
  // Of one result; nothing is in place where `in_place` is -1.
  void node(std::vector<int> reads, int result, int in_place = -1) {
    OrderNode made;
    made.reads = std::move(reads);
    made.writes = {result};
    if (in_place >= 0) made.in_place = {in_place};
    node(std::move(made), 1);
  }
  int node(OrderNode node, double ns) {
    problem.order.nodes.push_back(std::move(node));
    problem.node_ns.push_back(ns);
    return static_cast<int>(problem.node_ns.size()) - 1;
  }

  RecomputeProblem problem;
};

// Layers of one byte each, and back: each gradient is made, in place, of the one before and the layer's operand.
RecomputeProblem chain(int layers) {
  ProblemMaker maker;
  std::vector<int> made = {maker.value(0, 1)};
  for (int i = 0; i < layers; ++i) {
    const int next = maker.value(1, 1);
    maker.node({made.back()}, next);
    made.push_back(next);
  }
  for (int i = layers; i-- > 0;) {
    const int next = maker.value(1, 1);
    maker.node({made.back(), made[i]}, next, made.back());
    made.back() = next;
  }
  return std::move(maker.problem);
}

// Everything that a problem may have: several results, temporaries, values that are overwritten, nodes that run once,
// results that lie elsewhere.
RecomputeProblem random_problem(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int end) { return static_cast<int>(random() % static_cast<uint64_t>(end)); };
  ProblemMaker maker;
  std::vector<int> readable;
  for (int i = 0; i < 3; ++i) readable.push_back(maker.value(0, 64));
  const int nodes = 5 + below(30);
  for (int k = 0; k < nodes; ++k) {
    OrderNode node;
    if (below(4) == 0) node.temporary_bytes = 64 * below(4);
    const int reads = 1 + below(3);
    for (int i = 0; i < reads; ++i) {
      const int value = readable[below(2) ? readable.size() - 1 - below(std::min<int>(4, std::ssize(readable)))
                                          : below(static_cast<int>(readable.size()))];
      if (std::ranges::find(node.reads, value) == node.reads.end()) node.reads.push_back(value);
    }
    if (below(3) == 0) node.in_place.push_back(node.reads[0]);
    const int overwritten = below(6) == 0 ? node.reads[0] : -1;  // nobody reads it afterwards
    const int results = 1 + below(2);
    for (int i = 0; i < results; ++i) {
      const int64_t bytes = 64 * (1 + below(8));
      node.writes.push_back(maker.value(below(5) == 0 ? 0 : bytes, bytes));
    }
    const std::vector<int> made = node.writes;
    const int at =
        maker.node(std::move(node), overwritten >= 0 || below(8) == 0 ? RecomputeProblem::kOnce : 1 + below(9));
    if (overwritten >= 0) {
      maker.problem.overwritten_by[overwritten] = at;
      std::erase(readable, overwritten);
    }
    readable.insert(readable.end(), made.begin(), made.end());
  }
  return std::move(maker.problem);
}

int64_t peak_of(const OrderProblem& problem) {
  std::vector<int> order(problem.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  return peak_bytes(problem, order);
}

// What is wrong with runs: "" where each node runs first in its turn, again only if it may, and reads what is there and
// is made of what the first was made of.
std::string complaint_about(const RecomputeProblem& problem, const Runs& runs) {
  std::map<int, bool> is_overwritten;  // the newest version of a value
  size_t next = 0;
  for (const Run& run : runs) {
    const OrderNode& node = problem.order.nodes[run.node];
    const bool is_first = run.node == static_cast<int>(next);
    if (!is_first && run.node > static_cast<int>(next)) return "a node runs before its turn";
    if (!is_first && problem.node_ns[run.node] < 0) return "a node runs again that may not";
    for (const int value : node.reads) {
      if (is_overwritten[value]) return "what is read was overwritten";
    }
    if (is_first) {
      ++next;
      if (run.makes != node.writes) return "the first run makes all";
      for (int value = 0; value < std::ssize(problem.overwritten_by); ++value) {
        if (problem.overwritten_by[value] == run.node) is_overwritten[value] = true;
      }
    }
    for (const int value : run.makes) {
      if (std::ranges::find(node.writes, value) == node.writes.end()) return "a run makes what is another's";
      is_overwritten[value] = false;
    }
  }
  return next == problem.order.nodes.size() ? "" : "a node does not run";
}

TEST(Recompute, RunsAgainOnlyForWhatDoesNotFit) {
  const RecomputeProblem problem = chain(10);
  const std::optional<Runs> runs = recompute(problem, 100);
  ASSERT_TRUE(runs);
  EXPECT_EQ(again_ns(problem, *runs), 0);
  EXPECT_EQ(runs->size(), problem.order.nodes.size());
  EXPECT_FALSE(recompute(problem, 1)) << "a gradient and two operands are three bytes, one of them in place";
}

// How many layers run again at least, the first run of each included, where so many of their results may be kept at a
// time, beside the gradient, the layer that is run and its operand: every place of the first of them is tried. (Griewank
// and Walther, Algorithm 799, 2000, say where it is.)
int least_runs(int layers, int kept_max, std::map<std::pair<int, int>, int>& known) {
  if (layers <= 1) return 0;
  const auto [at, is_new] = known.emplace(std::pair(layers, kept_max), layers * (layers - 1) / 2);
  if (!is_new || kept_max == 0) return at->second;
  int least = at->second;
  for (int first = 1; first < layers; ++first) {
    const int rest = least_runs(layers - first, kept_max - 1, known);
    least = std::min(least, first + rest + least_runs(first, kept_max, known));
  }
  return known[{layers, kept_max}] = least;
}

TEST(Recompute, TakesNoLongerThanTheBestCheckpointsOfAChain) {
  constexpr int kLayers = 40;
  const RecomputeProblem problem = chain(kLayers);
  std::map<std::pair<int, int>, int> known;
  for (int limit = 3; limit <= kLayers + 1; ++limit) {
    const std::optional<Runs> runs = recompute(problem, limit);
    ASSERT_TRUE(runs) << limit;
    ASSERT_EQ(complaint_about(problem, *runs), "");
    EXPECT_LE(peak_of(problem_of(problem, *runs)), limit);
    const int again = least_runs(kLayers, limit - 3, known) - least_runs(kLayers, kLayers, known);
    EXPECT_LE(again_ns(problem, *runs), again) << "at a limit of " << limit;
  }
}

TEST(Recompute, FindsRunsThatDoTheSame) {
  int fitted = 0, refused = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const RecomputeProblem problem = random_problem(seed);
    const int64_t peak = peak_of(problem.order);
    for (const int64_t limit : {peak, peak * 7 / 8, peak * 3 / 4, peak / 2}) {
      const std::optional<Runs> runs = recompute(problem, limit);
      if (limit == peak) {
        ASSERT_TRUE(runs) << "seed " << seed;
        EXPECT_EQ(runs->size(), problem.order.nodes.size()) << "seed " << seed;
      }
      if (!runs) {
        ++refused;
        continue;
      }
      if (limit < peak) ++fitted;
      ASSERT_EQ(complaint_about(problem, *runs), "") << "seed " << seed;
      ASSERT_LE(peak_of(problem_of(problem, *runs)), limit) << "seed " << seed;
    }
  }
  EXPECT_GT(fitted, 500) << "of these " << refused << " were refused";
}

}  // namespace
}  // namespace ingot::plan
