// In which order kernels run: any order that respects who reads what, chosen for the smallest peak of live bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace ingot::plan {

// One node of the order problem, by index. Edges go from what must run first.
struct OrderNode {
  std::vector<int> after;       // nodes that must run before this one
  std::vector<int> reads;       // values that it reads (indices into the value list)
  std::vector<int> writes;      // values that it makes
  int64_t temporary_bytes = 0;  // needed while it runs only
  std::vector<int> in_place;    // reads whose bytes one of its writes may take over
};

// Values cost bytes from the node that makes them to the last that reads them. Values that live outside of the arena
// cost nothing (bytes 0).
struct OrderProblem {
  std::vector<OrderNode> nodes;
  std::vector<int64_t> value_bytes;
};

// Most bytes live at once when the nodes run in `order`.
int64_t peak_bytes(const OrderProblem& problem, const std::vector<int>& order);

// The better of program order and list schedules that free most first. Deterministic.
std::vector<int> choose_order(const OrderProblem& problem);

}  // namespace ingot::plan
