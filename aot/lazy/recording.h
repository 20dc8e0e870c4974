// What is to be computed, cut out of what was recorded: a graph as it is compared and compiled.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "aot/graph/graph.h"
#include "aot/lazy/memory.h"
#include "aot/passes/gradients/differentiate.h"

namespace ingot::lazy {

using KnownValues = std::map<const Value*, MemoryRef>;  // whose bytes are there

struct Recording {
  std::unique_ptr<Module> module;   // one function, whose splat constants are zero
  std::vector<LiteralRef> numbers;  // what those are, in order
  std::vector<MemoryRef> inputs;
  uint64_t hash = 0;  // the same for equal graphs, whatever their numbers

  const Function& function() const { return *module->functions[0]; }
};

// The ops that `roots` depend on, back to what is known. What nobody reads is left out.
Recording cut_out(const Function& recorded, const Values& roots, const KnownValues& known);

// The graph with its numbers; those that vary are inputs instead, behind the others: scalars that are spread out.
using Varying = std::vector<bool>;  // for each number
std::unique_ptr<Module> with_numbers(const Recording& recording, const Varying& varying);
std::vector<MemoryRef> inputs_of(const Recording& recording, const Varying& varying);

std::string input_name(size_t index);
std::string output_name(size_t index);

// The ops on the way back from `roots`, where `is_end` says of no value that it goes no further.
std::set<const Op*> ops_behind(const ValueSet& roots, const std::function<bool(const Value*)>& is_end);

}  // namespace ingot::lazy
