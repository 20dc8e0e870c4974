#include "aot/bundle/check_spec.h"

#include <bit>
#include <set>

#include "aot/base/error.h"
#include "schema/kernel_abi.h"

namespace ingot::bundle {
namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw_bug("bundle spec: " + what);
}

void check_plan(const BundleSpec& spec, const Target& target, const Entry& entry, const Plan& plan) {
  const std::string where = target.name + ", plan of '" + entry.name + "': ";
  const size_t base_count = INGOT_BASE_IO + entry.inputs.size() + entry.outputs.size();
  for (const Buffer& buffer : plan.buffers) {
    require(!buffer.in_place_of || *buffer.in_place_of < plan.buffers.size(), where + "in_place_of names no buffer");
  }
  for (const Step& step : plan.steps) {
    require(step.kind != StepKind::kKernel || step.kernel < target.kernels.size(), where + "a step names no kernel");
    require(!step.call || *step.call < plan.calls.size(), where + "a step is a part of no call");
    require(step.target <= plan.steps.size(), where + "a jump leads behind the end");
    const size_t parameter_count = operand_count(target, step.kind, step.kernel);
    const std::string name = step.kind == StepKind::kKernel ? target.kernels[step.kernel].name : "jump";
    require(step.operands.size() == parameter_count, where + "a step of '" + name + "' has " +
                                                         std::to_string(step.operands.size()) + " operands for " +
                                                         std::to_string(parameter_count) + " parameters");
    for (const Operand& operand : step.operands) {
      require(operand.base < base_count, where + "an operand of '" + name + "' names no base");
      require(operand.base != INGOT_BASE_ARENA || operand.index < plan.buffers.size(),
              where + "an operand of '" + name + "' names no buffer");
      require(operand.base != INGOT_BASE_STATE || operand.index < spec.states.size(),
              where + "an operand of '" + name + "' names no state");
    }
  }
}

void check_target(const BundleSpec& spec, const Target& target) {
  require(target.isa.size() < 16, target.name + ": isa is longer than 15 characters");
  require(target.page_bytes >= INGOT_BUFFER_ALIGNMENT_BYTES && std::has_single_bit(target.page_bytes),
          target.name + ": page_bytes is not a power of two of at least 64");
  require(target.plans.size() == spec.entries.size(), target.name + ": one plan per entry is needed");
  for (const Kernel& kernel : target.kernels) {
    require(kernel.code_offset < target.code.size(), target.name + ": '" + kernel.name + "' starts outside the code");
    for (const Parameter& p : kernel.parameters) {
      require(!p.replaced_by || (!p.writes && *p.replaced_by < kernel.parameters.size()),
              target.name + ": what replaces a parameter of '" + kernel.name + "' is none");
    }
  }
  for (size_t i = 0; i < target.plans.size(); ++i) check_plan(spec, target, spec.entries[i], target.plans[i]);
}

void check_entry(const Entry& entry) {
  for (const Tensor& input : entry.inputs) {
    require(input.default_value.empty() || input.default_value.size() == tensor_bytes(input),
            "the default value of '" + input.name + "' has not the bytes of its type");
  }
  for (const Tensor& output : entry.outputs) {
    require(output.default_value.empty(), "the output '" + output.name + "' has a default value");
  }
}

void check_states(const BundleSpec& spec) {
  uint64_t end_bytes = 0, initial_bytes = 0;
  std::set<std::string> names;
  for (const State& state : spec.states) {
    const std::string where = "state '" + state.tensor.name + "' ";
    require(names.insert(state.tensor.name).second, where + "is listed twice");
    require(state.offset_bytes >= end_bytes, where + "overlaps the one before it");
    require(state.offset_bytes % INGOT_BUFFER_ALIGNMENT_BYTES == 0, where + "is not aligned");
    end_bytes = state.offset_bytes + tensor_bytes(state.tensor);
    if (state.start == Start::kSegment) initial_bytes += tensor_bytes(state.tensor);
  }
  require(end_bytes <= spec.state_bytes, "state_bytes is less than the states take");
  require(initial_bytes == spec.initial_state.size(), "initial_state has not the bytes that its states take");
}

}  // namespace

uint64_t tensor_bytes(const Tensor& tensor) {
  uint64_t bytes = ingot_dtype_bytes(tensor.dtype);
  for (uint64_t dim : tensor.dims) bytes *= dim;
  return bytes;
}

size_t operand_count(const Target& target, StepKind kind, uint32_t kernel) {
  if (kind == StepKind::kKernel) return target.kernels.at(kernel).parameters.size();
  return kind == StepKind::kJumpUnless ? 1 : 0;
}

void check_spec(const BundleSpec& spec) {
  require(!spec.targets.empty(), "there is no target");
  for (const Entry& entry : spec.entries) check_entry(entry);
  check_states(spec);
  for (const Target& target : spec.targets) check_target(spec, target);
}

}  // namespace ingot::bundle
