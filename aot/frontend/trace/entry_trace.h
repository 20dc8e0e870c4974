// The trace of one entry point: variables are its arguments and results.
#pragma once

#include "aot/frontend/trace/trace.h"

namespace ingot {

class EntryTrace : public Trace {
 public:
  explicit EntryTrace(Function& function) : Trace(function, /*holds_values=*/false) {}

  // A new input of the entry point.
  Tensor add_input(const TensorType& type, const std::string& name);
  // In the order of first touch.
  std::vector<std::shared_ptr<Variable>> variables() const override { return variables_; }
  Value* read(const std::shared_ptr<Variable>& variable) override { return slot(variable).latest; }

  bool is_loss(const Tensor& tensor) { return !tensor.is_number() && losses_.contains(value(tensor)); }
  bool drew_random_numbers() const { return random_stream_ > 0; }

  // Ends the function: results are the written state, then the outputs. Arguments: state, then inputs.
  void finish(const std::vector<std::pair<std::string, Tensor>>& outputs);

 private:
  struct Slot {
    Value* argument = nullptr;
    Value* latest = nullptr;
    bool is_written = false;
  };
  void store(const std::shared_ptr<Variable>& variable, Value* value) override;
  // A variable becomes an argument when it is first touched.
  Slot& slot(const std::shared_ptr<Variable>& variable);

  std::vector<std::shared_ptr<Variable>> variables_;
  std::map<const Variable*, Slot> slots_;
  std::vector<std::pair<Value*, std::string>> inputs_;
};

}  // namespace ingot
