#include "tests/support/program_runner.h"

#include <fmt/format.h>

#include "aot/base/error.h"
#include "aot/graph/graph.h"

namespace ingot {

NamedTensors ReferenceExecutor::run(const Module& module, const std::string& entry, NamedTensors& state,
                                    const NamedTensors& inputs) {
  const Function* function = module.find(entry);
  if (!function) throw_error(nullptr, fmt::format("no entry point '{}'", entry));
  std::vector<RefTensor> arguments;
  for (int i = 0; i < function->argument_count(); ++i) {
    const AttrMap& attrs = function->argument_attrs[i];
    const TensorType& type = function->body.argument(i)->type;
    if (const auto name = attrs.find("ingot.state"); name != attrs.end()) {
      arguments.push_back(state.try_emplace(*name->second.as<std::string>(), RefTensor(type)).first->second);
    } else {
      const std::string& input = *attrs.at("ingot.name").as<std::string>();
      if (!inputs.contains(input)) throw_error(nullptr, fmt::format("@{}: input '{}' is missing", entry, input));
      arguments.push_back(inputs.at(input));
    }
  }
  std::vector<RefTensor> results = evaluate(*function, std::move(arguments), options_);
  NamedTensors outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    const AttrMap& attrs = function->results[i].attrs;
    if (const auto name = attrs.find("ingot.state"); name != attrs.end()) {
      state[*name->second.as<std::string>()] = std::move(results[i]);
    } else {
      outputs[*attrs.at("ingot.name").as<std::string>()] = std::move(results[i]);
    }
  }
  return outputs;
}

RefTensor tensor_of_values(const TensorType& type, const std::vector<double>& values) {
  RefTensor tensor(type);
  for (size_t k = 0; k < values.size(); ++k) {
    if (tensor.is_float()) {
      tensor.f.at(k) = values[k];
    } else {
      tensor.i.at(k) = static_cast<int64_t>(values[k]);
    }
  }
  return tensor;
}

void name_ports(Function& function) {
  const auto name = [](AttrMap& attrs, const char* what, size_t i) {
    if (!attrs.contains("ingot.state")) attrs.emplace("ingot.name", Attr(fmt::format("{}{}", what, i)));
  };
  for (size_t i = 0; i < function.argument_attrs.size(); ++i) name(function.argument_attrs[i], "arg", i);
  for (size_t i = 0; i < function.results.size(); ++i) name(function.results[i].attrs, "result", i);
}

}  // namespace ingot
