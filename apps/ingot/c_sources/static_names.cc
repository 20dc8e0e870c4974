#include "apps/ingot/c_sources/static_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/ingot/c_sources/c_names.h"
#include "schema/kernel_abi.h"

namespace ingot {
namespace {

std::vector<StaticPort> name_ports(const std::vector<bundle::Tensor>& tensors, const std::string& function,
                                   NameScope& scope) {
  std::vector<StaticPort> ports;
  for (const bundle::Tensor& tensor : tensors) {
    ports.push_back({&tensor, scope.add(function + "_" + identifier(tensor.name))});
  }
  return ports;
}

}  // namespace

StaticNames static_names(const bundle::BundleSpec& spec, const std::string& prefix) {
  const bundle::Target& target = spec.targets.front();
  StaticNames names{prefix, {}, {}, {}};
  NameScope scope({prefix + "_start", prefix + "_state", prefix + "_arena", prefix + "_scratch", prefix + "_constants",
                   prefix + "_first_values"});
  for (size_t k = 0; k < target.kernels.size(); ++k) {
    names.kernels.push_back(scope.add(fmt::format("{}_kernel_{}_{}", prefix, k, identifier(target.kernels[k].name))));
  }
  for (size_t k = 0; k < spec.entries.size(); ++k) {
    const bundle::Entry& entry = spec.entries[k];
    names.entries.push_back({&entry, &target.plans[k], scope.add(prefix + "_" + identifier(entry.name)), {}, {}});
  }
  for (StaticEntry& entry : names.entries) {
    entry.inputs = name_ports(entry.entry->inputs, entry.function, scope);
    entry.outputs = name_ports(entry.entry->outputs, entry.function, scope);
  }
  NameScope members({});
  for (const bundle::State& state : spec.states) names.states.push_back(members.add(identifier(state.tensor.name)));
  return names;
}

StaticSizes static_sizes(const bundle::BundleSpec& spec) {
  const bundle::Target& target = spec.targets.front();
  StaticSizes sizes{};
  sizes.alignment_bytes = INGOT_BUFFER_ALIGNMENT_BYTES;
  for (const bundle::Plan& plan : target.plans) {
    sizes.alignment_bytes = std::max(sizes.alignment_bytes, plan.alignment_bytes);
    sizes.arena_bytes = std::max(sizes.arena_bytes, plan.arena_bytes);
  }
  for (const bundle::Kernel& kernel : target.kernels) {
    sizes.scratch_bytes = std::max(sizes.scratch_bytes, kernel.scratch_bytes);
    sizes.stack_bytes = std::max<uint64_t>(sizes.stack_bytes, kernel.stack_bytes);
  }
  for (const bundle::Entry& entry : spec.entries) {
    for (const bundle::Tensor& tensor : entry.inputs) sizes.ports_bytes += bundle::tensor_bytes(tensor);
    for (const bundle::Tensor& tensor : entry.outputs) sizes.ports_bytes += bundle::tensor_bytes(tensor);
  }
  sizes.state_bytes = spec.state_bytes;
  sizes.code_bytes = target.code.size();
  sizes.constant_bytes = target.rodata.size();
  sizes.first_value_bytes = spec.initial_state.size();
  return sizes;
}

}  // namespace ingot
