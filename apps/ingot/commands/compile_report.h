// What `ingot compile` says of what it made.
#pragma once

#include <string>
#include <vector>

#include "aot/pipeline/compile.h"
#include "apps/ingot/terminal/report.h"

namespace ingot {

// What a run wrote, and where.
struct Written {
  std::string kind, path;  // kind: as --emit calls it
  uint64_t bytes;
};

void print_compiled(const Compiled& compiled, const Written& written);
Json compiled_json(const Compiled& compiled, const Written& written, const std::vector<std::string>& notes);

// What --explain prints of one of its subjects.
std::string explanation(const Compiled& compiled, const std::string& subject);

}  // namespace ingot
