// Programs and bundles from files, for the command line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aot/bundle/bundle.h"
#include "aot/graph/graph.h"
#include "aot/passes/pass.h"

namespace ingot {

// What `[ENTRY=]FILE.mlir` names.
struct ProgramName {
  std::string entry;  // ENTRY, or else what the file is called
  std::string path;
  bool is_named = false;  // ENTRY was given
};
ProgramName program_name(const std::string& argument);

// `[ENTRY=]FILE.mlir` as they are; in the place of a FOLDER its FILE.mlir, in the order of their names.
std::vector<std::string> program_files(const std::vector<std::string>& arguments);

// Parses and imports `[ENTRY=]FILE.mlir`. The function @main is named ENTRY, or else after the file. A mistake is
// thrown as an Error whose message shows the line of the text.
std::unique_ptr<Module> load_program(const std::string& argument);

// What `--shape batch=32,x=32x784` gives.
std::vector<GivenShape> given_shapes(const std::vector<std::string>& texts);

// A module's text as it is, without import.
std::unique_ptr<Module> parse_program(const std::string& text, const std::string& path);

// What is in a bundle, for whatever processor.
bundle::BundleSpec load_bundle(const std::string& path);

}  // namespace ingot
