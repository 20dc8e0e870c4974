// What low-rank adapters learnt, added to the weights that they stand beside.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "aot/base/safetensors.h"
#include "aot/graph/literal.h"

namespace ingot {

struct MergedWeights {
  std::map<std::string, SafeTensor> values;  // `state` with merged weights in the place of their adapters
  std::vector<std::string> merged;           // their names
  std::vector<LiteralRef> holders;           // of their values
};

// W + scale A B of every adapter in `state`, a training's; W from there, or else from `weights`, the model's.
//
// Throws an Error for an adapter that is not whole or fits no weight.
MergedWeights merge_lora(const std::map<std::string, SafeTensor>& state,
                         const std::map<std::string, SafeTensor>& weights);

}  // namespace ingot
