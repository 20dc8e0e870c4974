// Small random programs for differential tests: a pass, or a whole compiler, must not change what they mean.
#pragma once

#include <memory>

#include "aot/graph/graph.h"

namespace ingot {

struct TameGraphOptions {
  int op_count = 25;
  int argument_count = 4;
  int64_t extent_max = 6;  // of a dimension
  int rank_max = 3;
  bool reductions = true;
  bool contractions = true;
  bool transcendentals = true;  // exponential, tanh, ...: their compiled forms differ within a bound
};

// A module with one function @main over f32, i32 and i1 tensors; the same for the same seed everywhere. It has what
// real programs have: splats and repeated subexpressions, broadcasts of rows and columns, reductions that are broadcast
// back, transposed operands, unit dimensions, results that are also read inside.
std::unique_ptr<Module> tame_graph(uint64_t seed, const TameGraphOptions& options = {});

}  // namespace ingot
