#include "aot/pipeline/freeze_state.h"

#include <set>

#include "aot/analysis/walk.h"
#include "aot/graph/attributes.h"
#include "aot/ops/support/build.h"

namespace ingot {
namespace {

std::set<std::string> written_states(const std::vector<std::unique_ptr<Module>>& modules) {
  std::set<std::string> names;
  for (const auto& module : modules) {
    for (const auto& function : module->functions) {
      for (const FunctionResult& result : function->results) names.insert(attr_text(result.attrs, attributes::kState));
    }
  }
  return names;
}

// The value as a literal of `type`; null where it is of another.
LiteralRef literal_of(const SafeTensor& value, const TensorType& type) {
  const bool is_same = value.dtype == info(type.dtype).safetensors && value.shape == type.shape;
  if (!is_same || info(type.dtype).bits < 8) return nullptr;
  return as_splat_if_equal(dense(type, {value.data.begin(), value.data.end()}));
}

class Freezing {
 public:
  Freezing(const std::set<std::string>& written, const std::map<std::string, SafeTensor>& values)
      : written_(written), values_(values) {}

  void freeze(Function& function) {
    for (int i = function.argument_count(); i-- > 0;) {
      const Value& argument = *function.body.argument(i);
      const std::string name = attr_text(function.argument_attrs[i], attributes::kState);
      const LiteralRef literal = literal_for(name, argument.type);
      if (!literal) continue;
      replace_argument(function, i, literal);
      frozen_[name] = literal;
    }
  }
  const std::map<std::string, LiteralRef>& frozen() const { return frozen_; }

 private:
  // Null for what is no state, or stays state.
  LiteralRef literal_for(const std::string& name, const TensorType& type) {
    const auto value = values_.find(name);
    if (name.empty() || value == values_.end() || written_.contains(name)) return nullptr;
    LiteralRef& literal = literals_[name];
    if (!literal || literal->type != type) literal = literal_of(value->second, type);
    return literal;
  }

  void replace_argument(Function& function, int at, const LiteralRef& literal) {
    Value* argument = function.body.argument(at);
    b_.before(*function.body.ops.front());
    b_.location = argument->location;
    Value* constant = ops::constant(b_, literal);
    constant->name = argument->name;
    replace_all_uses(argument, constant);
    function.body.arguments.erase(function.body.arguments.begin() + at);
    function.argument_attrs.erase(function.argument_attrs.begin() + at);
    for (int i = at; i < function.argument_count(); ++i) function.body.argument(i)->index = i;
  }

  const std::set<std::string>& written_;
  const std::map<std::string, SafeTensor>& values_;
  std::map<std::string, LiteralRef> literals_;  // what several functions read is held once
  GraphBuilder b_;
  std::map<std::string, LiteralRef> frozen_;
};

}  // namespace

std::vector<FrozenState> freeze_state(const std::vector<std::unique_ptr<Module>>& modules,
                                      const std::map<std::string, SafeTensor>& values) {
  const std::set<std::string> written = written_states(modules);
  Freezing freezing(written, values);
  for (const auto& module : modules) {
    for (const auto& function : module->functions) freezing.freeze(*function);
  }
  std::vector<FrozenState> frozen;
  for (const auto& [name, value] : freezing.frozen()) frozen.push_back({name, value});
  return frozen;
}

}  // namespace ingot
