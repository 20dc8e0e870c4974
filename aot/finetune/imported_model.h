// A program that was imported, from ONNX or StableHLO, as a part of traced ones: a function of tensors.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aot/frontend/trace/program.h"
#include "aot/graph/graph.h"
#include "aot/passes/pass.h"

namespace ingot {

struct Variable;

class ImportedModel {
 public:
  // `module` has one public function: its arguments are state, the weights, and inputs. `shapes`, unless it is null, gives
  // what it leaves open, and learns what was used. Throws an Error for another module.
  explicit ImportedModel(std::unique_ptr<Module> module, std::vector<GivenShape>* shapes = nullptr);

  const Function& function() const { return *function_; }
  const std::string& name() const { return function_->name; }
  const std::vector<Spec>& inputs() const { return inputs_; }
  const std::vector<std::string>& outputs() const { return outputs_; }

  // The state, by its names. It has no initializer: its first values come with the program. Floats require gradients.
  const std::vector<Tensor>& weights() const { return weights_; }

  // The outputs for these inputs, at this place of the entry point that is being traced; a state that the function
  // replaces is replaced. Its ops keep the lines they are known by. `rewrite`, where it is given, says what stands in the
  // place of an op's only result: `made`, that of the copy, or what it makes of that.
  using Rewrite = std::function<Value*(const Op& op, Value* made)>;
  std::vector<Tensor> operator()(std::span<const Tensor> inputs, const Rewrite& rewrite = {}) const;

 private:
  std::shared_ptr<Variable> variable(const std::string& name) const;  // the state of that name; null: none

  std::unique_ptr<Module> module_;
  const Function* function_;
  std::vector<Spec> inputs_;
  std::vector<std::string> outputs_;
  std::vector<Tensor> weights_;
  std::vector<std::shared_ptr<Variable>> state_;     // of each argument; null where it is an input
  std::vector<std::shared_ptr<Variable>> only_set_;  // state that no argument reads
};

}  // namespace ingot
