// From a function whose every op is in a kernel to the same for one target, as the plan reads it.
#pragma once

#include <string>
#include <vector>

#include "aot/graph/graph.h"
#include "aot/loops/target.h"
#include "aot/lowered/lowered.h"

namespace ingot {

// What lowering chose for a kernel, and how: what --explain=contraction prints.
struct LoweringNote {
  Location location;
  std::string kernel, target;
  std::string choice;
  std::string entry;              // whose
  int graph_kernel = -1;          // lowered::Node::graph_kernel
  std::string machine_code = {};  // what became of it, where somebody has looked
};

// Lowers every ingot.kernel; loops and branches stay. The result depends on the function's text and the target alone.
// What was chosen on the way is added to `notes`, where they are asked for.
lowered::Function lower_function(const Function& function, const loops::Target& target,
                                 std::vector<LoweringNote>* notes = nullptr);

// Gives every copy and fill of `function` a kernel.
void lower_copies(lowered::Function& function, const loops::Target& target);

}  // namespace ingot
