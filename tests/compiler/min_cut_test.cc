// MinCut against all ways to part small random graphs.
#include "aot/analysis/min_cut.h"

#include <gtest/gtest.h>

#include <random>

namespace ingot {
namespace {

struct Edge {
  int from, to;
  int64_t capacity;
};

// Capacity of the edges from the source's side to the other.
int64_t cost(const std::vector<Edge>& edges, const std::vector<bool>& is_source_side) {
  int64_t total = 0;
  for (const Edge& edge : edges) {
    if (is_source_side[edge.from] && !is_source_side[edge.to]) total += edge.capacity;
  }
  return total;
}

TEST(MinCut, IsTheCheapestOfAllAndNearestToTheSink) {
  std::mt19937 random(7);
  const int nodes = 9, source = 0, sink = 1;
  for (int round = 0; round < 300; ++round) {
    MinCut network;
    for (int n = 0; n < nodes; ++n) network.add_node();
    std::vector<Edge> edges;
    for (int e = 0; e < 24; ++e) {
      const int from = static_cast<int>(random() % nodes), to = static_cast<int>(random() % nodes);
      if (from == to || (from == source && to == sink)) continue;
      edges.push_back({from, to, random() % 5 == 0 ? MinCut::kUnlimited / 100 : static_cast<int64_t>(random() % 8)});
      network.add_edge(from, to, edges.back().capacity);
    }
    const std::vector<bool> cut = network.cut(source, sink);
    ASSERT_TRUE(cut[source]);
    ASSERT_FALSE(cut[sink]);
    const int64_t found = cost(edges, cut);
    const auto count = std::count(cut.begin(), cut.end(), true);
    for (int sides = 0; sides < 1 << (nodes - 2); ++sides) {
      std::vector<bool> other = {true, false};
      for (int n = 2; n < nodes; ++n) other.push_back((sides >> (n - 2)) & 1);
      const int64_t price = cost(edges, other);
      ASSERT_GE(price, found);
      if (price == found) {
        EXPECT_LE(std::count(other.begin(), other.end(), true), count);
      }
    }
  }
}

TEST(MinCut, ThereIsNoneThroughUnlimitedEdges) {
  MinCut network;
  for (int n = 0; n < 3; ++n) network.add_node();
  network.add_edge(0, 2, MinCut::kUnlimited);
  network.add_edge(2, 1, MinCut::kUnlimited);
  EXPECT_EQ(network.cut(0, 1), std::vector<bool>(3, false));
}

}  // namespace
}  // namespace ingot
