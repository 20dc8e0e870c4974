// The cheapest way to part a source from a sink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ingot {

// A directed graph with capacities. Dinic 1970, "Algorithm for solution of a problem of maximum flow in a network":
// O(nodes² edges) at worst, near linear where paths are short.
class MinCut {
 public:
  static constexpr int64_t kUnlimited = INT64_MAX / 4;

  int add_node();
  void add_edge(int from, int to, int64_t capacity);

  // For each node, whether it stays on the source's side of the cheapest cut: of several, the one nearest to the sink.
  // All false where nothing but unlimited edges parts them.
  std::vector<bool> cut(int source, int sink);

 private:
  struct Edge {
    int to;
    int64_t left;  // capacity; the edge backwards is the next or the one before
  };

  bool find_levels(int source, int sink);
  int64_t push(int node, int sink, int64_t most);

  std::vector<Edge> edges_;
  std::vector<std::vector<int>> of_node_;  // numbers of edges
  std::vector<int> level_;
  std::vector<std::size_t> next_;
};

}  // namespace ingot
