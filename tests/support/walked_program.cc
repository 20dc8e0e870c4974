#include "tests/support/walked_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "aot/base/divide.h"
#include "aot/base/error.h"
#include "schema/kernel_abi.h"

namespace ingot {
namespace {

const bundle::Target& find_target(const bundle::BundleSpec& spec, const loops::Target& target) {
  const auto found = std::ranges::find(spec.targets, target.name, &bundle::Target::name);
  INGOT_CHECK(found != spec.targets.end());
  return *found;
}

codegen::CodeImage image_of(const bundle::Target& target) {
  codegen::CodeImage image;
  image.bytes = target.code;
  for (const bundle::Kernel& kernel : target.kernels) image.entry_offsets.push_back(kernel.code_offset);
  return image;
}

TensorType type_of(const bundle::Tensor& tensor) {
  static const std::map<ingot_dtype, std::string_view> kNames = {
#define INGOT_DTYPE_ROW(NAME, code, bytes, stablehlo, safetensors) {INGOT_##NAME, stablehlo},
      INGOT_DTYPES(INGOT_DTYPE_ROW)
#undef INGOT_DTYPE_ROW
  };
  const std::optional<DType> dtype = dtype_from_name(kNames.at(tensor.dtype));
  INGOT_CHECK(dtype);
  return {*dtype, {tensor.dims.begin(), tensor.dims.end()}};
}

}  // namespace

// What a run touches, base after base (enum ingot_base), and scratch.
struct WalkedProgram::Memory {
  std::span<std::byte> bytes;
  std::vector<int64_t> bases;
  int64_t scratch = 0;
  int64_t size = 0;

  int64_t add(uint64_t byte_count) {
    const int64_t offset = size;
    size +=
        divide_up(static_cast<int64_t>(byte_count) + 1, INGOT_BUFFER_ALIGNMENT_BYTES) * INGOT_BUFFER_ALIGNMENT_BYTES;
    return offset;
  }
  int64_t at(const bundle::Operand& operand) const {
    return bases.at(operand.base) + static_cast<int64_t>(operand.offset_bytes);
  }
  void write(int64_t at, std::span<const std::byte> from) const { std::ranges::copy(from, bytes.begin() + at); }
  RefTensor read(int64_t at, const TensorType& type) const {
    const auto from = bytes.begin() + at;
    return from_literal(*dense(type, {from, from + type.bytes()}));
  }
};

WalkedProgram::WalkedProgram(const bundle::BundleSpec& spec, const loops::Target& target)
    : spec_(spec), target_(find_target(spec, target)), code_(make_code_runner(target, image_of(target_))) {}

size_t WalkedProgram::index_of(const std::string& entry) const {
  const auto found = std::ranges::find(spec_.entries, entry, &bundle::Entry::name);
  if (found == spec_.entries.end()) throw_error(nullptr, fmt::format("no entry point '{}'", entry));
  return found - spec_.entries.begin();
}

bool WalkedProgram::is_faithful(const std::string& entry) const {
  return std::ranges::all_of(target_.plans.at(index_of(entry)).steps, [&](const bundle::Step& step) {
    return step.kind != bundle::StepKind::kKernel || code_->is_faithful(step.kernel);
  });
}

NamedTensors WalkedProgram::run(const std::string& entry_name, NamedTensors& state, const NamedTensors& inputs) {
  const size_t index = index_of(entry_name);
  const bundle::Entry& entry = spec_.entries[index];
  const bundle::Plan& plan = target_.plans.at(index);
  Memory memory;
  for (const uint64_t bytes : {plan.arena_bytes, spec_.state_bytes, uint64_t{target_.rodata.size()}})
    memory.bases.push_back(memory.add(bytes));
  for (const auto* tensors : {&entry.inputs, &entry.outputs}) {
    for (const bundle::Tensor& tensor : *tensors) memory.bases.push_back(memory.add(bundle::tensor_bytes(tensor)));
  }
  uint64_t scratch = 0;
  for (const bundle::Kernel& kernel : target_.kernels) scratch = std::max(scratch, kernel.scratch_bytes);
  memory.scratch = memory.add(scratch);
  memory.bytes = code_->memory(memory.size);
  std::ranges::fill(memory.bytes, std::byte{0xFF});
  write_inputs(memory, entry, state, inputs);
  walk(memory, plan);
  return read_outputs(memory, entry, state);
}

void WalkedProgram::write_inputs(Memory& memory, const bundle::Entry& entry, const NamedTensors& state,
                                 const NamedTensors& inputs) const {
  for (const bundle::State& it : spec_.states) {
    const auto given = state.find(it.tensor.name);
    const RefTensor tensor = given == state.end() ? RefTensor(type_of(it.tensor)) : given->second;
    memory.write(memory.bases[INGOT_BASE_STATE] + static_cast<int64_t>(it.offset_bytes),
                 to_literal(tensor)->dense_bytes());
  }
  memory.write(memory.bases[INGOT_BASE_RODATA], target_.rodata);
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const bundle::Tensor& input = entry.inputs[i];
    const auto given = inputs.find(input.name);
    if (given == inputs.end() && input.default_value.empty())
      throw_error(nullptr, fmt::format("@{}: input '{}' is missing", entry.name, input.name));
    memory.write(memory.bases[INGOT_BASE_IO + i],
                 given == inputs.end() ? input.default_value : to_literal(given->second)->dense_bytes());
  }
}

NamedTensors WalkedProgram::read_outputs(const Memory& memory, const bundle::Entry& entry, NamedTensors& state) const {
  NamedTensors outputs;
  for (size_t i = 0; i < entry.outputs.size(); ++i) {
    const int64_t at = memory.bases[INGOT_BASE_IO + entry.inputs.size() + i];
    outputs[entry.outputs[i].name] = memory.read(at, type_of(entry.outputs[i]));
  }
  for (const bundle::State& it : spec_.states) {
    const int64_t at = memory.bases[INGOT_BASE_STATE] + static_cast<int64_t>(it.offset_bytes);
    state[it.tensor.name] = memory.read(at, type_of(it.tensor));
  }
  return outputs;
}

void WalkedProgram::walk(const Memory& memory, const bundle::Plan& plan) {
  for (size_t at = 0; at < plan.steps.size();) {
    const bundle::Step& step = plan.steps[at];
    if (step.kind == bundle::StepKind::kJump) {
      at = step.target;
      continue;
    }
    std::vector<int64_t> operands;
    for (const bundle::Operand& operand : step.operands) operands.push_back(memory.at(operand));
    if (step.kind == bundle::StepKind::kJumpUnless) {
      uint32_t value = 0;
      std::memcpy(&value, &memory.bytes[operands.at(0)], step.word ? 4 : 1);
      at = value == step.kernel ? at + 1 : step.target;
      continue;
    }
    for (int64_t task = 0; task < target_.kernels.at(step.kernel).task_count; ++task)
      code_->run(step.kernel, operands, memory.scratch, task);
    ++at;
  }
}

}  // namespace ingot
