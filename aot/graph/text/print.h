// Writes a graph as StableHLO text, in pretty form where an op has one. The same graph always gives the same text, and
// parsing it gives the same graph back.
//
// Values keep the names they have, made unique within their function; the others are %0, %1, ... and %arg0, ...
#pragma once

#include <string>

#include "aot/graph/graph.h"

namespace ingot {

struct PrintOptions {
  bool locations = false;  // loc(...) on ops, arguments and functions
};

std::string print(const Module& module, const PrintOptions& options = {});
std::string print(const Function& function, const PrintOptions& options = {});
std::string print(const Op& op, const PrintOptions& options = {});  // with its operands' names in its function

}  // namespace ingot
