#include "aot/plan/rename.h"

#include "aot/base/error.h"

namespace ingot::plan {

using lowered::ValueId;

namespace {

void rename(std::vector<ValueId>& values, const Renaming& names) {
  for (ValueId& value : values) {
    if (const auto found = names.find(value); found != names.end()) value = found->second;
  }
}

}  // namespace

void rename(lowered::Node& node, const Renaming& names) {
  rename(node.operands, names);
  rename(node.results, names);
  for (lowered::KernelCall& call : node.calls) {
    for (lowered::Argument& argument : call.arguments) {
      if (const auto found = names.find(argument.value); found != names.end()) argument.value = found->second;
    }
  }
  for (lowered::Block& region : node.regions) {
    for (lowered::Node& inner : region.nodes) rename(inner, names);
    rename(region.results, names);
  }
}

lowered::Node made_again(lowered::Function& function, const lowered::Node& node, Renaming& names) {
  INGOT_CHECK(node.regions.empty());  // whose values would have to be made again as well
  std::vector<ValueId> made = lowered::temporaries_of(node);
  made.insert(made.end(), node.results.begin(), node.results.end());
  for (const ValueId value : made) {
    names[value] = function.add_value(function.values[value].name, TensorType(function.type(value)));
  }
  lowered::Node again = node;
  rename(again, names);
  return again;
}

}  // namespace ingot::plan
