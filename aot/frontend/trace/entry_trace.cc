#include "aot/frontend/trace/entry_trace.h"

#include "aot/graph/attributes.h"

namespace ingot {

Tensor EntryTrace::add_input(const TensorType& type, const std::string& name) {
  Value* argument = function_->body.add_argument(type, name, named_location(name));
  inputs_.emplace_back(argument, name);
  return wrap(argument);
}

EntryTrace::Slot& EntryTrace::slot(const std::shared_ptr<Variable>& variable) {
  if (!variable->is_state()) {
    fail("this tensor holds a value of a lazy::Device; entry points share only parameters and buffers");
  }
  const auto [found, is_new] = slots_.try_emplace(variable.get());
  if (is_new) {
    variables_.push_back(variable);
    found->second.argument = function_->body.add_argument(variable->type, "");
    found->second.latest = found->second.argument;
  }
  return found->second;
}

void EntryTrace::store(const std::shared_ptr<Variable>& variable, Value* value) {
  Slot& written = slot(variable);
  written.is_written = true;
  written.latest = value;
}

void EntryTrace::finish(const std::vector<std::pair<std::string, Tensor>>& outputs) {
  Values results;
  for (const auto& variable : variables_) {
    const Slot& state = slots_.at(variable.get());
    if (!state.is_written) continue;
    results.push_back(state.latest);
    function_->results.push_back(
        {variable->type, {{attributes::kState, variable->name()}, {attributes::kRole, variable->role}}});
  }
  for (const auto& [name, tensor] : outputs) {
    results.push_back(value(tensor));
    function_->results.push_back({results.back()->type, {{attributes::kName, name}}});
  }
  b.create(kFuncReturn, results);

  std::vector<std::pair<const Value*, AttrMap>> order;
  for (const auto& variable : variables_) {
    Value* argument = slots_.at(variable.get()).argument;
    argument->name = variable->name();
    argument->location = named_location(argument->name);
    order.emplace_back(argument, AttrMap{{attributes::kState, argument->name}, {attributes::kRole, variable->role}});
  }
  for (const auto& [argument, name] : inputs_) order.emplace_back(argument, AttrMap{{attributes::kName, name}});
  std::vector<std::unique_ptr<Value>> sorted;
  for (auto& [argument, attrs] : order) {
    sorted.push_back(std::move(function_->body.arguments[argument->index]));
    function_->argument_attrs.push_back(std::move(attrs));
  }
  for (size_t i = 0; i < sorted.size(); ++i) sorted[i]->index = static_cast<int>(i);
  function_->body.arguments = std::move(sorted);
}

}  // namespace ingot
