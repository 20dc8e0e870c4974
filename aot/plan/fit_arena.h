// A function that needs less memory: what it reads late is not kept, but made again by the kernels that made it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "aot/lowered/lowered.h"

namespace ingot::plan {

// A node that runs again.
struct MadeAgain {
  int graph_kernel;  // lowered::Node::graph_kernel
  int times;         // of a loop's in each iteration
  double ns;         // of one time
};

// Gives `function`, on which separate_results has run and whose copies have kernels, nodes that make values again, so
// that no more than `limit_bytes` of the arena live at once; the nodes then stand in the order in which that is so.
// Each computes what the first one did from the same values: no result changes by a bit. `node_ns` is what a node of
// the function takes. In the body of a loop nodes run again for what an iteration makes; loops and branches themselves run
// once. nullopt, and nothing is changed, where no such order is found.
std::optional<std::vector<MadeAgain>> fit_arena(lowered::Function& function, int64_t limit_bytes,
                                                const std::function<double(const lowered::Node&)>& node_ns);

// The most bytes that one node needs at once: no limit below can be met.
int64_t least_arena_bytes(const lowered::Function& function);

}  // namespace ingot::plan
