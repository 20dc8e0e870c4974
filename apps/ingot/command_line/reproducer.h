// What is needed to see a bug of ours again, as a folder that can be sent.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "aot/pipeline/passes.h"

namespace ingot {

struct Failure {
  std::vector<std::string> command;   // as it was typed
  std::string what;                   // what the bug said
  std::vector<std::string> programs;  // [ENTRY=]FILE.mlir: those that the command read
};

// Writes a new folder ingot-reproducer-ENTRY (or -ENTRY-2, ...: nothing is overwritten) in the current one:
//   report.txt        the failure, the command, the version, how to see it again
//   ENTRY.mlir        each program as it was read
//   before-PASS.mlir  the program before the pass that fails, where one does, for `ingot opt --passes=PASS`
// Which pass fails is found by running them again. Gives the folder's name. Throws where it cannot be written.
std::string write_reproducer(const Failure& failure, std::span<const PassRow> passes = compile_passes());

}  // namespace ingot
