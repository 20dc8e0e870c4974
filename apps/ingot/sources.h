// Programs from files, for the command line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aot/graph/graph.h"

namespace ingot {

std::string read_text(const std::string& path);  // throws an Error that names the path

// Parses and imports `[ENTRY=]FILE.mlir`. The function @main is named ENTRY, or else after the file. A mistake is
// thrown as an Error whose message shows the line of the text.
std::unique_ptr<Module> load_program(const std::string& argument);

}  // namespace ingot
