// Makes a program that fails smaller for as long as it fails (Zeller, Hildebrandt, "Simplifying and isolating
// failure-inducing input", 2002).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "aot/graph/graph.h"

namespace ingot {

// The smallest program that was found for which `fails` holds, as it does for `graph`, a module of one function with
// examples (random_graph.h). Results are dropped; ops give way to their operands, or to arguments that are what the op
// gave; regions shrink likewise; dimensions become shorter everywhere; examples become zeros. `fails` is asked
// `tries_max` times at most.
std::unique_ptr<Module> shrink_graph(const Module& graph, const std::function<bool(const Module&)>& fails,
                                     int tries_max = 1000);

// Writes the program's text to a file `name` in a folder for what tests leave behind; gives its path.
std::string write_graph(const Module& graph, const std::string& name, const std::string& comment);

}  // namespace ingot
