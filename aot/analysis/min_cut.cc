#include "aot/analysis/min_cut.h"

#include <algorithm>

namespace ingot {

int MinCut::add_node() {
  of_node_.emplace_back();
  return static_cast<int>(of_node_.size()) - 1;
}

void MinCut::add_edge(int from, int to, int64_t capacity) {
  of_node_[from].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({to, capacity});
  of_node_[to].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({from, 0});
}

bool MinCut::find_levels(int source, int sink) {
  level_.assign(of_node_.size(), -1);
  level_[source] = 0;
  std::vector<int> queue = {source};
  for (size_t k = 0; k < queue.size(); ++k) {
    for (const int e : of_node_[queue[k]]) {
      const Edge& edge = edges_[e];
      if (edge.left == 0 || level_[edge.to] >= 0) continue;
      level_[edge.to] = level_[queue[k]] + 1;
      queue.push_back(edge.to);
    }
  }
  return level_[sink] >= 0;
}

// Depth first along falling levels, with a stack of its own: paths may be as long as a program.
int64_t MinCut::push(int source, int sink, int64_t most) {
  std::vector<int> path;  // edges
  int node = source;
  while (true) {
    if (node == sink) {
      int64_t flow = most;
      for (const int e : path) flow = std::min(flow, edges_[e].left);
      for (const int e : path) {
        edges_[e].left -= flow;
        edges_[e ^ 1].left += flow;
      }
      return flow;
    }
    bool advanced = false;
    for (; next_[node] < of_node_[node].size(); ++next_[node]) {
      const int e = of_node_[node][next_[node]];
      if (edges_[e].left == 0 || level_[edges_[e].to] != level_[node] + 1) continue;
      path.push_back(e);
      node = edges_[e].to;
      advanced = true;
      break;
    }
    if (advanced) continue;
    if (path.empty()) return 0;
    node = edges_[path.back() ^ 1].to;
    path.pop_back();
    ++next_[node];
  }
}

std::vector<bool> MinCut::cut(int source, int sink) {
  int64_t total = 0;
  while (find_levels(source, sink)) {
    next_.assign(of_node_.size(), 0);
    while (const int64_t flow = push(source, sink, kUnlimited)) total += flow;
    if (total >= kUnlimited) return std::vector<bool>(of_node_.size(), false);
  }
  // Nodes from which the sink can still be reached are on its side.
  std::vector<bool> is_source_side(of_node_.size(), true);
  is_source_side[sink] = false;
  std::vector<int> queue = {sink};
  for (size_t k = 0; k < queue.size(); ++k) {
    for (const int e : of_node_[queue[k]]) {
      const int from = edges_[e].to;  // by the edge backwards, e ^ 1
      if (edges_[e ^ 1].left == 0 || !is_source_side[from]) continue;
      is_source_side[from] = false;
      queue.push_back(from);
    }
  }
  return is_source_side;
}

}  // namespace ingot
