// Where a program multiplies by its weights.
#pragma once

#include <string>
#include <vector>

#include "aot/graph/graph.h"

namespace ingot {

// A product of a weight, or of its transpose, and one other operand.
struct WeightProduct {
  const Op* op;        // dot_general, without batch dimensions
  int weight_operand;  // 0 or 1
  int64_t in_dim;      // of the weight, that the product sums over

  // What the model calls it, and what it is a part of: "node_MatMul_1", "encoder.q_proj".
  std::vector<std::string> names() const;
};

// A matrix of floats among the state, which products read.
struct MultipliedWeight {
  std::string name;
  TensorType type;
  std::vector<WeightProduct> products;
  const Op* other_reader = nullptr;  // what else reads it: a gather, a loop
};

std::vector<MultipliedWeight> multiplied_weights(const Function& function);

}  // namespace ingot
