// A program at several sizes of what it leaves open (`--shape batch=1,8,32`): an entry point for each, over one state.
//
// Each is called PROGRAM@NAME=SIZE[,NAME=SIZE...]: "predict@seq=128". Where its rows are proved to be independent of each
// other (analysis/independent_rows.h), it takes fewer of them too and is called PROGRAM@NAME<=SIZE: "predict@batch<=8".
// Hosts find the smallest that holds what they have by these names (ingot/sized.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aot/graph/graph.h"
#include "aot/passes/pass.h"

namespace ingot {

// What a dimension or an argument may be: each entry of `sizes` as in GivenShape.
struct SizeChoices {
  std::string name;
  std::vector<Shape> sizes;
  bool is_used = false;  // the program leaves something of that name open
};

// Reads the program anew. May give it the sizes; those that it does are marked as used.
using LoadProgram = std::function<std::unique_ptr<Module>(std::vector<GivenShape>& shapes)>;

struct AtSizes {
  std::vector<std::unique_ptr<Module>> modules;  // one for each combination of the sizes that the program leaves open
  std::vector<std::string> notes;                // why entry points take no fewer rows, a line each
};

// The program at every combination of sizes. One that leaves none of several sizes open is given once and keeps its
// names. More than 64 combinations are an Error.
AtSizes at_sizes(const LoadProgram& load, std::vector<SizeChoices>& choices);

}  // namespace ingot
