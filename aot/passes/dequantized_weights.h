// Weights that a program has as integers already, times their scales: exactly as it says.
#pragma once

#include <optional>

#include "aot/passes/stored_weights.h"

namespace ingot {

// Of constants: integers as floats, and what they are multiplied by, both like the weights that are their product.
struct DequantizedWeights {
  RefTensor integers, scales;
};

// What `value` is, through ops that move elements; nullopt where it is made otherwise.
std::optional<DequantizedWeights> dequantized_weights(const Value* value);

// The same in the largest blocks that have one scale each, of 4 bits where that is enough; nullopt where 8 are not, or
// blocks are short. `integers` and `scales` are [channels][depth].
std::optional<StoredWeights> stored_as_they_are(const std::vector<float>& integers, const std::vector<float>& scales,
                                                int64_t channels);

}  // namespace ingot
