#include "aot/lowered/lowered.h"

#include <algorithm>
#include <set>

namespace ingot::lowered {
namespace {

// All that nodes and blocks read, and all that they make.
struct Contents {
  std::set<ValueId> read, made;

  std::vector<ValueId> read_from_outside() const {
    std::vector<ValueId> values;
    std::ranges::set_difference(read, made, std::back_inserter(values));
    return values;
  }

  void add(const Node& node) {
    read.insert(node.operands.begin(), node.operands.end());
    made.insert(node.results.begin(), node.results.end());
    for (const KernelCall& call : node.calls) {
      for (const Argument& argument : call.arguments) {
        (argument.access == Access::kRead ? read : made).insert(argument.value);
      }
    }
    for (const Block& region : node.regions) add(region);
  }

  void add(const Block& block) {
    made.insert(block.arguments.begin(), block.arguments.end());
    read.insert(block.results.begin(), block.results.end());
    for (const Node& node : block.nodes) add(node);
  }
};

}  // namespace

ValueId Function::add_value(std::string value_name, TensorType type) {
  values.push_back({std::move(value_name), std::move(type)});
  return static_cast<ValueId>(values.size()) - 1;
}

std::vector<ValueId> read_by(const Node& node) {
  Contents contents;
  contents.add(node);
  return contents.read_from_outside();
}

std::vector<ValueId> read_by(const Block& block) {
  Contents contents;
  contents.add(block);
  return contents.read_from_outside();
}

std::vector<ValueId> temporaries_of(const Node& node) {
  std::set<ValueId> temporaries;
  for (const KernelCall& call : node.calls) {
    for (const Argument& argument : call.arguments) {
      if (argument.access != Access::kRead) temporaries.insert(argument.value);
    }
  }
  for (const ValueId result : node.results) temporaries.erase(result);
  return {temporaries.begin(), temporaries.end()};
}

ValueId predecessor(const Function& function, const Node& node, ValueId result) {
  if (node.kind == NodeKind::kWhile) {
    return node.operands[std::ranges::find(node.results, result) - node.results.begin()];
  }
  for (const KernelCall& call : node.calls) {
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const Argument& argument = call.arguments[i];
      const int alias = function.kernels[call.kernel].buffers[i].may_alias;
      if (argument.access == Access::kUpdate && argument.value == result && alias >= 0)
        return call.arguments[alias].value;
    }
  }
  return kNoValue;
}

std::vector<ValueId> replaced_state(const Function& function) {
  std::vector<ValueId> replaced;
  for (const Port& result : function.results) {
    const auto is_same = [&](const Port& argument) { return argument.is_state && argument.name == result.name; };
    const auto at = std::ranges::find_if(function.arguments, is_same);
    const bool is_found = result.is_state && at != function.arguments.end();
    replaced.push_back(is_found ? function.body.arguments[at - function.arguments.begin()] : kNoValue);
  }
  return replaced;
}

}  // namespace ingot::lowered
