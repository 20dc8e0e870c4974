#include "aot/pipeline/to_spec.h"

#include <fmt/format.h>

#include <map>

#include "aot/analysis/traffic.h"
#include "aot/analysis/user_name.h"
#include "aot/base/error.h"
#include "aot/base/printable.h"
#include "aot/graph/attributes.h"
#include "schema/checksum.h"
#include "schema/dtype.h"
#include "schema/kernel_abi.h"
#include "schema/text.h"

namespace ingot {
namespace {

// The contract's code of an element type: both sides use StableHLO's names.
ingot_dtype dtype_code(DType dtype) {
  static const std::map<std::string_view, ingot_dtype> kCodes = {
#define INGOT_DTYPE_ROW(NAME, code, bytes, stablehlo, safetensors) {stablehlo, INGOT_##NAME},
      INGOT_DTYPES(INGOT_DTYPE_ROW)
#undef INGOT_DTYPE_ROW
  };
  return kCodes.at(info(dtype).name);
}

bundle::Tensor tensor_spec(const std::string& name, const TensorType& type) {
  return {name, dtype_code(type.dtype), {type.shape.begin(), type.shape.end()}};
}

uint32_t base_of(const plan::Buffer& buffer, int input_count) {
  switch (buffer.space) {
    case plan::Space::kArena:
      return INGOT_BASE_ARENA;
    case plan::Space::kState:
      return INGOT_BASE_STATE;
    case plan::Space::kRodata:
      return INGOT_BASE_RODATA;
    case plan::Space::kInput:
      return INGOT_BASE_IO + buffer.index;
    case plan::Space::kOutput:
      return INGOT_BASE_IO + input_count + buffer.index;
  }
  return 0;
}

// As much of a text as a name may be.
std::string name_text(const std::string& text) { return printable(text.substr(0, INGOT_NAME_BYTES_MAX)); }

bundle::Call call_spec(const Op& kernel) {
  const Traffic::Kernel measured = measure_kernel(kernel);
  bundle::Call call{measured.name, name_text(user_name(kernel.location)), name_text(describe(kernel.location))};
  // Without the folder: a bundle does not tell where it was made.
  call.source.erase(0, call.source.rfind('/') + 1);
  if (call.source == call.op) call.source.clear();
  call.dtype = dtype_code(kernel.result()->type.dtype);
  call.flops = static_cast<uint64_t>(measured.flops);
  call.read_bytes = static_cast<uint64_t>(measured.read_bytes);
  call.written_bytes = static_cast<uint64_t>(measured.written_bytes);
  return call;
}

void add_state(plan::StateTable& table, const Function& entry, const AttrMap& attrs, const TensorType& type,
               const Location& location) {
  const std::string name = attr_text(attrs, attributes::kState);
  if (name.empty()) return;
  const plan::StateSlot& slot = table.add(name, type, attr_text(attrs, attributes::kRole));
  if (slot.type == type) return;
  throw_error(location, fmt::format("state '{}' is {} in @{} but {} elsewhere; give it one type", name, to_string(type),
                                    entry.name, to_string(slot.type)));
}

}  // namespace

plan::StateTable state_table(const std::vector<Function*>& entries) {
  plan::StateTable table;
  for (const Function* entry : entries) {
    for (int i = 0; i < entry->argument_count(); ++i) {
      const Value& argument = *entry->body.argument(i);
      add_state(table, *entry, entry->argument_attrs[i], argument.type, argument.location);
    }
    for (const FunctionResult& result : entry->results) {
      add_state(table, *entry, result.attrs, result.type, entry->location);
    }
  }
  return table;
}

bundle::Entry entry_signature(const Function& function) {
  bundle::Entry entry;
  entry.name = function.name;
  for (int i = 0; i < function.argument_count(); ++i) {
    if (!attr_text(function.argument_attrs[i], attributes::kState).empty()) continue;
    std::string name = attr_text(function.argument_attrs[i], attributes::kName);
    if (name.empty()) name = "arg" + std::to_string(i);
    bundle::Tensor& input = entry.inputs.emplace_back(tensor_spec(name, function.body.argument(i)->type));
    const auto otherwise = function.argument_attrs[i].find(attributes::kDefault);
    if (otherwise == function.argument_attrs[i].end()) continue;
    input.default_value = std::get<LiteralRef>(otherwise->second.value)->dense_bytes();
  }
  for (size_t i = 0; i < function.results.size(); ++i) {
    if (!attr_text(function.results[i].attrs, attributes::kState).empty()) continue;
    std::string name = attr_text(function.results[i].attrs, attributes::kName);
    if (name.empty()) name = "result" + std::to_string(entry.outputs.size());
    entry.outputs.push_back(tensor_spec(name, function.results[i].type));
  }
  return entry;
}

std::vector<bundle::State> state_spec(const plan::StateTable& state) {
  std::vector<bundle::State> states;
  for (const plan::StateSlot& slot : state.slots()) {
    const auto offset_bytes = static_cast<uint64_t>(slot.offset_bytes);
    states.push_back({tensor_spec(slot.name, slot.type), slot.role, offset_bytes, bundle::Start::kUnset});
  }
  return states;
}

std::vector<bundle::Frozen> frozen_spec(const std::vector<FrozenState>& frozen) {
  std::vector<bundle::Frozen> specs;
  for (const FrozenState& state : frozen) {
    const std::vector<std::byte> values = state.value->dense_bytes();
    specs.push_back({tensor_spec(state.name, state.value->type), ingot_checksum(values.data(), values.size())});
  }
  return specs;
}

bundle::Plan plan_spec(const plan::Plan& plan, const Function& function) {
  const int input_count = static_cast<int>(entry_signature(function).inputs.size());
  bundle::Plan spec;
  for (const Op* kernel : kernels_of(function)) spec.calls.push_back(call_spec(*kernel));
  spec.arena_bytes = plan.arena_bytes;
  spec.lower_bound_bytes = plan.lower_bound_bytes;
  std::map<int, uint32_t> arena_index;  // plan buffer -> spec buffer
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const plan::Buffer& buffer = plan.buffers[i];
    if (buffer.space != plan::Space::kArena) continue;
    arena_index[static_cast<int>(i)] = static_cast<uint32_t>(spec.buffers.size());
    bundle::Buffer made;
    made.offset_bytes = buffer.offset_bytes;
    made.bytes = buffer.bytes();
    made.first_step = buffer.first_step;
    made.last_step = buffer.last_step;
    if (buffer.in_place_of >= 0) made.in_place_of = arena_index.at(buffer.in_place_of);
    spec.buffers.push_back(made);
  }
  for (const plan::Step& step : plan.steps) {
    bundle::Step made;
    made.kernel = step.kernel;
    made.barrier = step.barrier;
    if (step.call >= 0) made.call = step.call;
    if (step.kind != plan::StepKind::kKernel) {
      made.kind = step.kind == plan::StepKind::kJump ? bundle::StepKind::kJump : bundle::StepKind::kJumpUnless;
      made.target = step.target;
      made.kernel = step.value;
      made.word = !step.buffers.empty() && plan.buffers[step.buffers[0]].bytes() == 4;
    }
    for (int id : step.buffers) {
      const plan::Buffer& buffer = plan.buffers[id];
      bundle::Operand operand;
      operand.base = base_of(buffer, input_count);
      operand.offset_bytes = buffer.offset_bytes;
      if (buffer.space == plan::Space::kArena) operand.index = arena_index.at(id);
      if (buffer.space == plan::Space::kState) operand.index = buffer.index;
      made.operands.push_back(operand);
    }
    spec.steps.push_back(std::move(made));
  }
  return spec;
}

// Scratch is no parameter. What an output may alias, it may replace.
std::vector<bundle::Parameter> parameters_of(const loops::Kernel& kernel) {
  std::vector<bundle::Parameter> parameters;
  std::vector<size_t> of_buffer;
  for (const loops::Buffer& buffer : kernel.buffers) {
    of_buffer.push_back(parameters.size());
    if (buffer.role == loops::BufferRole::kScratch) continue;
    const bool writes = buffer.role == loops::BufferRole::kOutput;
    if (buffer.may_alias >= 0) parameters[of_buffer[buffer.may_alias]].replaced_by = parameters.size();
    parameters.push_back({static_cast<uint64_t>(buffer.elements * info(buffer.dtype).bytes), !writes, writes});
  }
  return parameters;
}

bundle::Target target_spec(const loops::Target& target, const plan::KernelTable& kernels, codegen::CodeImage image,
                           std::vector<std::byte> rodata, std::vector<bundle::Plan> plans) {
  bundle::Target spec;
  spec.name = target.name;
  spec.isa = target.isa;
  for (size_t at = 0; at < target.required.size();) {
    const size_t comma = std::min(target.required.find(',', at), target.required.size());
    spec.cpu_features.emplace_back(target.required.substr(at, comma - at));
    at = comma + 1;
  }
  for (size_t i = 0; i < kernels.kernels().size(); ++i) {
    const loops::Kernel& kernel = kernels.kernels()[i];
    bundle::Kernel made;
    made.name = kernel.name;
    made.code_offset = static_cast<uint32_t>(image.entry_offsets[i]);
    made.stack_bytes = static_cast<uint32_t>(image.stack_bytes[i]);
    made.task_count = static_cast<uint32_t>(kernel.task_count);
    made.scratch_bytes = kernel.scratch_bytes;
    made.parameters = parameters_of(kernel);
    spec.kernels.push_back(std::move(made));
  }
  spec.code = std::move(image.bytes);
  spec.page_bytes = static_cast<uint32_t>(target.segment_alignment_bytes());
  spec.rodata = std::move(rodata);
  spec.plans = std::move(plans);
  return spec;
}

}  // namespace ingot
