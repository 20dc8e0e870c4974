// Where buffers lie in the arena: dynamic storage allocation.
//
//   bytes ^   ┌───────┐
//         │   │   b   ├─────┐      each rectangle is one item: its width is its lifetime,
//         │ ┌─┴─────┬─┘  c  │      its height its size. No two may overlap.
//         │ │   a   └───────┘
//         └─┴─────────────────> step
#pragma once

#include <cstdint>
#include <vector>

namespace ingot::plan {

// One thing to place. Live in first..last, both included.
struct Item {
  int64_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct Placement {
  std::vector<int64_t> offsets;  // one for each item, multiples of kAlignmentBytes
  int64_t bytes = 0;             // end of the highest item
};

// Most bytes live at once, sizes rounded up to the alignment: no placement is smaller.
int64_t lower_bound_bytes(const std::vector<Item>& items);

// Tries several orders of first fit and best fit, then improves the best one by moving items forward in the order until
// the lower bound is met or a fixed number of attempts is spent. Deterministic.
Placement place(const std::vector<Item>& items);

}  // namespace ingot::plan
