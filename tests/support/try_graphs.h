// Programs through everything that executes them: evaluated, interpreted as loops, compiled.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aot/graph/graph.h"

namespace ingot {

struct GraphTrial {
  std::string complaint;  // what is wrong; "" if nothing is
  int64_t elements = 0, judged_elements = 0;
  std::vector<std::string_view> targets = {};   // whose code was run
  std::vector<std::string_view> left_out = {};  // whose code could be run, but for a fault of the emulator
};

// Each module has one function @main with examples (random_graph.h). Compiled code, on one thread and on three, and the
// interpreted loops give the same bits (any NaN for a NaN), and what the evaluation gives as far as rounding leaves it
// certain (reference.h): for the target that this processor runs, and for one of the table in turn, by a graph's place
// in the list (for all, if it is alone, and with INGOT_EVERY_TARGET=1), whose code is run where it can be
// (code_runner.h). All become one bundle, an entry point each, for every target.
std::vector<GraphTrial> try_graphs(const std::vector<const Module*>& graphs);
GraphTrial try_graph(const Module& graph);

}  // namespace ingot
