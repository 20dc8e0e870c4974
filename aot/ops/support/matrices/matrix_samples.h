// Texts for the samples columns of decompositions.
#pragma once

#include <string>
#include <vector>

#include "aot/graph/op.h"

namespace ingot::ops {

// A batch of matrices of random elements in [-1, 1]. To row i, counted from 1, i times `gap` is added in the column
// that makes it an antidiagonal: rows have to be exchanged, and singular values lie apart.
struct SampleMatrix {
  std::string batch;  // "2x3x"
  int64_t rows, columns;
  std::string dtype;
  double gap = 0;
};

// What factors that are made column by column are tried with: of any proportions, of several blocks, and empty.
const std::vector<SampleMatrix>& factored_matrices();

// `op` reads %a; `results` are its results' types after the batch dimensions: "4x3xf32".
Sample decomposition_sample(const SampleMatrix& matrix, const std::string& op, const std::vector<std::string>& results);

}  // namespace ingot::ops
