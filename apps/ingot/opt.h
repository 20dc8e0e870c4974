// ingot opt: runs graph passes on StableHLO text and prints what comes out.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "aot/pipeline/passes.h"

namespace ingot {

struct OptOptions {
  std::string input;                // a file, or "-" for standard input
  std::string output = "-";         // a file, or "-" for standard output
  std::vector<std::string> passes;  // empty: all that `ingot compile` runs
  bool locations = false;           // print loc(...)
  bool explain_fuse = false;        // why ops stayed in kernels of their own
  bool summary = false;             // kernels, values and bytes instead of text
  PipelineOptions pipeline;
};

// The exit code, 0; mistakes are thrown as Errors.
int run_opt(const OptOptions& options);

void add_opt_command(CLI::App& app);

}  // namespace ingot
