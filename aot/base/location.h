// Where something was written: a file position, a name, a call chain. Immutable and shared; null means unknown.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ingot {

struct LocationNode;
using Location = std::shared_ptr<const LocationNode>;

// The forms of MLIR's location attribute.
struct LocationNode {
  enum class Kind : uint8_t { kUnknown, kFile, kName, kCallSite, kFused };
  Kind kind = Kind::kUnknown;
  std::string text;                // kFile: the file's name. kName: the name. kFused: metadata text, may be empty.
  int line = 0;                    // kFile; 1-based
  int column = 0;                  // kFile; 1-based
  int end_line = 0;                // kFile with a range, else 0
  int end_column = 0;              // kFile with a range, else 0
  std::vector<Location> children;  // kName: at most one. kCallSite: callee, caller. kFused: all.
};

Location file_location(std::string file, int line, int column);
Location named_location(std::string name, Location child = nullptr);

// The innermost file position, as "model.py:12:8", or the first name, or "" when nothing is known.
std::string describe(const Location& location);

}  // namespace ingot
