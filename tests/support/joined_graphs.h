// Random graphs (random_graph.h) as entry points of one program, and what stands for each of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aot/graph/graph.h"
#include "aot/loops/target.h"
#include "tests/support/program_runner.h"

namespace ingot {

// Of the `k`-th graph.
std::string entry_name(size_t k);

// The graphs as entry points of one program, which share no state.
std::unique_ptr<Module> joined(const std::vector<const Module*>& graphs);

// An entry point's results, in order: `run` takes state and inputs by name, and gives outputs. Arguments and results as
// they lie in memory, here and below.
using RunByName = std::function<NamedTensors(NamedTensors& state, const NamedTensors& inputs)>;
std::vector<RefTensor> results_by_name(const Function& function, const std::vector<RefTensor>& arguments,
                                       const RunByName& run);

// Kernels are lowered and interpreted; between them the evaluator goes on. `first_target` is the first of the program's
// targets: passes weigh by its row, and what they choose is in the bits of every target.
std::vector<RefTensor> interpreted_results(const Module& graph, const loops::Target& first_target,
                                           const loops::Target& target, const std::vector<RefTensor>& arguments);

}  // namespace ingot
