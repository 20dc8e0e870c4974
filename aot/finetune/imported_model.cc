#include "aot/finetune/imported_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/base/error.h"
#include "aot/frontend/trace/trace.h"
#include "aot/graph/attributes.h"

namespace ingot {
namespace {

const Function& only_public(const Module& module) {
  const Function* found = nullptr;
  for (const auto& function : module.functions) {
    if (function->is_private) continue;
    if (found) {
      throw_error(function->location,
                  fmt::format("the program has entry points @{} and @{}; to train one, give it alone", found->name,
                              function->name));
    }
    found = function.get();
  }
  if (!found) throw_error(module.location, "the program has no public function");
  return *found;
}

std::shared_ptr<Variable> make_variable(const std::string& name, const TensorType& type, bool requires_grad) {
  return std::make_shared<Variable>(
      Variable{[name] { return name; }, type, "param", /*initializer=*/{}, requires_grad});
}

}  // namespace

ImportedModel::ImportedModel(std::unique_ptr<Module> module, std::vector<GivenShape>* shapes)
    : module_(std::move(module)) {
  PassContext context;
  if (shapes) context.shapes = *shapes;
  inline_calls(*module_, context);
  refine_shapes(*module_, context);
  if (shapes) *shapes = context.shapes;
  function_ = &only_public(*module_);
  for (int i = 0; i < function_->argument_count(); ++i) {
    const TensorType& type = function_->body.argument(i)->type;
    const AttrMap& attrs = function_->argument_attrs[i];
    if (const std::string name = attr_text(attrs, attributes::kState); !name.empty()) {
      weights_.push_back(tensor_of(state_.emplace_back(make_variable(name, type, is_float(type.dtype)))));
      continue;
    }
    state_.push_back(nullptr);
    const std::string name = attr_text(attrs, attributes::kName);
    inputs_.push_back({type, name.empty() ? fmt::format("arg{}", i) : name});
  }
  for (const FunctionResult& result : function_->results) {
    if (const std::string state = attr_text(result.attrs, attributes::kState); !state.empty()) {
      if (!variable(state)) only_set_.push_back(make_variable(state, result.type, false));
      continue;
    }
    const std::string name = attr_text(result.attrs, attributes::kName);
    outputs_.push_back(name.empty() ? fmt::format("result{}", outputs_.size()) : name);
  }
}

std::shared_ptr<Variable> ImportedModel::variable(const std::string& name) const {
  for (const auto* variables : {&state_, &only_set_}) {
    const auto found = std::ranges::find_if(*variables, [&](const auto& v) { return v && v->name() == name; });
    if (found != variables->end()) return *found;
  }
  return nullptr;
}

std::vector<Tensor> ImportedModel::operator()(std::span<const Tensor> inputs, const Rewrite& rewrite) const {
  Trace& trace = Trace::current();
  ValueMap map;
  auto input = inputs.begin();
  for (int i = 0; i < function_->argument_count(); ++i) {
    const Value* argument = function_->body.argument(i);
    INGOT_CHECK(state_[i] || input != inputs.end());
    Value* const value = state_[i] ? trace.read(state_[i]) : trace.value(*input++);
    if (value->type != argument->type) {
      fail(fmt::format("the model's input is {}, not {}", to_string(argument->type), to_string(value->type)));
    }
    map[argument] = value;
  }
  for (const auto& op : function_->body.ops) {
    if (op.get() == function_->body.terminator()) break;
    Op* const copy = copy_op(*op, *trace.b.block(), map);
    if (rewrite && copy->results.size() == 1) map[op->result(0)] = rewrite(*op, copy->result(0));
  }
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < function_->results.size(); ++i) {
    Value* const value = map.at(function_->body.ops.back()->operands[i]);
    const std::string state = attr_text(function_->results[i].attrs, attributes::kState);
    if (state.empty()) {
      outputs.push_back(trace.wrap(value));
      continue;
    }
    trace.write(variable(state), value);
  }
  return outputs;
}

}  // namespace ingot
