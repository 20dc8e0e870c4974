// Programs that check themselves, made ready to be compiled and run like any other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aot/graph/check.h"
#include "aot/graph/graph.h"

namespace ingot {

struct CheckProgram {
  std::string name;                // of the function
  std::unique_ptr<Module> module;  // one entry point of that name, without checks
  std::vector<Check> checks;       // of its results
  std::vector<LiteralRef> inputs;  // for its arguments
};

// One program for each public function of the module that takes nothing. Calls are inlined; constants of more than one
// value become arguments, so that the compiler cannot fold the program away and what is tested is what users run.
std::vector<CheckProgram> check_programs(const Module& module);

}  // namespace ingot
