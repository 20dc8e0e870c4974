// Runs entry points of a module on named tensors: one interface for every way to execute a program.
#pragma once

#include <map>
#include <string>

#include "aot/frontend/trace/program.h"
#include "aot/graph/evaluate.h"

namespace ingot {

using NamedTensors = std::map<std::string, RefTensor>;

class Executor {
 public:
  virtual ~Executor() = default;

  // Runs `entry` once. `state` is read and replaced; state that is not there yet starts as zeros (`init` needs none).
  // Gives the outputs. An input that is missing fails.
  virtual NamedTensors run(const Module& module, const std::string& entry, NamedTensors& state,
                           const NamedTensors& inputs) = 0;
};

// The reference evaluator; with `round` false, in f64 throughout.
class ReferenceExecutor : public Executor {
 public:
  explicit ReferenceExecutor(bool round = true) : options_{round} {}
  NamedTensors run(const Module& module, const std::string& entry, NamedTensors& state,
                   const NamedTensors& inputs) override;

 private:
  EvaluateOptions options_;
};

// A tensor from values; integers are converted.
RefTensor tensor_of_values(const TensorType& type, const std::vector<double>& values);

// Names for every argument and result that has none: arg0, arg1, ..., result0, ...
void name_ports(Function& function);

}  // namespace ingot
