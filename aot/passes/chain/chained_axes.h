// Along which axes all results of a chain of kernels can be cut into blocks.
#pragma once

#include <optional>
#include <vector>

#include "aot/graph/op.h"

namespace ingot {

struct ChainedAxes {
  std::vector<int64_t> batch;                 // extents: axes 0, 1, ...
  int64_t rows = 0;                           // the axis after them, where nothing is summed over it; 0: there is none
  std::vector<std::vector<int>> result_axes;  // of each dimension of each result; -1: it is in no axis
};

// The batch of `scores`, a contraction in the kernel's region, and its rows: followed through the region to the results.
// Nullopt where a result does not have every batch axis.
std::optional<ChainedAxes> chained_axes(const Op& kernel, const Op& scores);

}  // namespace ingot
