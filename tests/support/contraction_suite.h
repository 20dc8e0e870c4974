// The contractions by which the template is measured: what networks ask for, and shapes at which kernels tend to break.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aot/graph/graph.h"

namespace ingot {

struct ContractionProblem {
  std::string name;
  std::unique_ptr<Module> module;  // of one function, as a user's program has it
  double flops;
  double read_bytes, written_bytes;  // of operands and of the result, each once

  double bytes() const { return read_bytes + written_bytes; }
};

// A fixed list, of numbers of `dtype`; names are unique.
//   dot       M x N x K, "t" before an operand that is given transposed; powers of two, their neighbours, thin ones
//   heads     batch x M x N x K: the products of attention
//   conv      channels last as passes leave it (nhwc) and as PyTorch traces it (nchw); forward, input, kernel: the
//             convolution and its two gradients
std::vector<ContractionProblem> contraction_problems(DType dtype = DType::kF32);

}  // namespace ingot
