// Programs that check themselves, made ready to be compiled and run like any other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aot/graph/check.h"
#include "aot/graph/graph.h"

namespace ingot {

struct CheckProgram {
  std::string name;                 // of the function
  std::unique_ptr<Module> module;   // one entry point of that name, without checks
  std::vector<Check> checks;        // of its results
  std::vector<LiteralRef> inputs;   // for its arguments
  std::vector<TensorType> results;  // what the checks see; quantized types and narrow floats are returned as integers
};

// One program for each public function of the module that takes nothing.
std::vector<CheckProgram> check_programs(const Module& module);

// Makes the constants of more than one value arguments, so that the compiler cannot fold the program away and what is
// tested is what users run. Before, the passes run that need constants as they are: those that a shape is made of.
void hoist_constants(CheckProgram& program);

}  // namespace ingot
