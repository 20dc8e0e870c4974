// State that only starts and never changes becomes constants: what is computed from it alone is computed at once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aot/base/safetensors.h"
#include "aot/graph/graph.h"

namespace ingot {

// Which state that no entry point writes becomes constants of the bundle. It can no longer be read, written or loaded.
enum class Freeze {
  kNothing,
  kBrought,  // what programs bring with them: the weights of ONNX models
  kAll,      // what has a first value
};

// State that became a constant.
struct FrozenState {
  std::string name;
  LiteralRef value;
};

// Puts constants in the place of every state that `values` has, of the same type, and that no public function of
// `modules` writes. Bools and integers of
// less than 8 bits, not every byte of which means something, stay state. What became constant, by names in order.
std::vector<FrozenState> freeze_state(const std::vector<std::unique_ptr<Module>>& modules,
                                      const std::map<std::string, SafeTensor>& values);

}  // namespace ingot
