#include "aot/bundle/metadata.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "aot/base/contains.h"
#include "schema/bundle_generated.h"
#include "schema/kernel_abi.h"
#include "schema/plan_records.h"

namespace ingot::bundle {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

Offset<schema::Tensor> write(FlatBufferBuilder& b, const Tensor& tensor) {
  auto dims = tensor.dims.empty() ? 0 : b.CreateVector(tensor.dims);
  Offset<flatbuffers::Vector<uint8_t>> default_value;
  if (const size_t bytes = tensor.default_value.size()) {
    b.ForceVectorAlignment(bytes, 1, INGOT_BUFFER_ALIGNMENT_BYTES);
    default_value = b.CreateVector(reinterpret_cast<const uint8_t*>(tensor.default_value.data()), bytes);
  }
  return schema::CreateTensor(b, b.CreateString(tensor.name), static_cast<uint8_t>(tensor.dtype), 0, dims,
                              default_value);
}

template <typename Spec, typename Record>
Offset<flatbuffers::Vector<Offset<Record>>> write_all(FlatBufferBuilder& b, const std::vector<Spec>& specs,
                                                      Offset<Record> (*write_one)(FlatBufferBuilder&, const Spec&)) {
  std::vector<Offset<Record>> records;
  for (const Spec& spec : specs) records.push_back(write_one(b, spec));
  return b.CreateVector(records);
}

Offset<schema::State> write_state(FlatBufferBuilder& b, const State& state) {
  auto tensor = write(b, state.tensor);
  return schema::CreateState(b, tensor, b.CreateString(state.role), state.offset_bytes,
                             static_cast<uint8_t>(state.start));
}

Offset<schema::Frozen> write_frozen(FlatBufferBuilder& b, const Frozen& frozen) {
  return schema::CreateFrozen(b, write(b, frozen.tensor), frozen.checksum);
}

Offset<schema::Entry> write_entry(FlatBufferBuilder& b, const Entry& entry) {
  auto inputs = write_all<Tensor, schema::Tensor>(b, entry.inputs, write);
  auto outputs = write_all<Tensor, schema::Tensor>(b, entry.outputs, write);
  return schema::CreateEntry(b, b.CreateString(entry.name), inputs, outputs, entry.flops);
}

// Positions of the buffers in the file's order: ascending first step.
std::vector<uint32_t> buffer_order(const Plan& plan) {
  std::vector<uint32_t> order(plan.buffers.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const Buffer &x = plan.buffers[a], &y = plan.buffers[b];
    if (x.first_step != y.first_step) return x.first_step < y.first_step;
    // A buffer stands behind the one it replaces.
    if (x.in_place_of.has_value() != y.in_place_of.has_value()) return y.in_place_of.has_value();
    return a < b;
  });
  return order;
}

Offset<schema::Plan> write_plan(FlatBufferBuilder& b, const Plan& plan, uint32_t entry_index) {
  const std::vector<uint32_t> order = buffer_order(plan);
  std::vector<uint32_t> position(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;

  std::vector<schema::Buffer> buffers;
  for (uint32_t index : order) {
    const Buffer& buffer = plan.buffers[index];
    buffers.emplace_back(buffer.offset_bytes, buffer.bytes, buffer.first_step, buffer.last_step,
                         buffer.in_place_of ? position[*buffer.in_place_of] : INGOT_NONE, 0u);
  }
  std::vector<schema::Step> steps;
  std::vector<schema::Operand> operands;
  std::vector<uint32_t> operand_buffers;
  for (const Step& step : plan.steps) {
    steps.emplace_back(
        step.kernel, static_cast<uint32_t>(operands.size()), static_cast<uint16_t>(step.kind),
        static_cast<uint16_t>((step.barrier ? INGOT_STEP_BARRIER : 0) | (step.word ? INGOT_STEP_WORD : 0)),
        step.target);
    for (const Operand& operand : step.operands) {
      operands.emplace_back(operand.offset_bytes, operand.base, 0u);
      operand_buffers.push_back(operand.base == INGOT_BASE_ARENA ? position[operand.index] : operand.index);
    }
  }
  auto buffer_vector = b.CreateVectorOfStructs(buffers);
  auto step_vector = b.CreateVectorOfStructs(steps);
  auto operand_vector = b.CreateVectorOfStructs(operands);
  auto operand_buffer_vector = b.CreateVector(operand_buffers);
  return schema::CreatePlan(b, entry_index, plan.arena_bytes, plan.lower_bound_bytes,
                            static_cast<uint32_t>(plan.alignment_bytes), buffer_vector, step_vector, operand_vector,
                            operand_buffer_vector);
}

Offset<schema::Target> write_target(FlatBufferBuilder& b, const Target& target, uint32_t code,
                                    std::optional<uint32_t> rodata) {
  std::vector<Offset<schema::Plan>> plans;
  for (uint32_t i = 0; i < target.plans.size(); ++i) plans.push_back(write_plan(b, target.plans[i], i));
  std::vector<Offset<flatbuffers::String>> names;
  for (const Kernel& kernel : target.kernels) names.push_back(b.CreateSharedString(kernel.name));
  auto plan_vector = b.CreateVector(plans);
  auto name_vector = b.CreateVector(names);
  return schema::CreateTarget(b, b.CreateString(target.name), code, rodata.value_or(INGOT_NONE), plan_vector,
                              name_vector);
}

Offset<schema::Call> write_call(FlatBufferBuilder& b, const Call& call) {
  auto name = b.CreateSharedString(call.name), op = b.CreateSharedString(call.op);
  auto source = b.CreateSharedString(call.source);
  return schema::CreateCall(b, name, op, source, static_cast<uint8_t>(call.dtype), call.flops, call.read_bytes,
                            call.written_bytes);
}

Offset<schema::PlanCalls> write_plan_calls(FlatBufferBuilder& b, const Plan& plan) {
  std::vector<uint32_t> step_calls;
  for (const Step& step : plan.steps) step_calls.push_back(step.call.value_or(INGOT_NONE));
  auto calls = write_all<Call, schema::Call>(b, plan.calls, write_call);
  auto steps = b.CreateVector(step_calls);
  return schema::CreatePlanCalls(b, calls, steps);
}

// A flatbuffer inside the flatbuffer, so that the engine need not verify it.
Offset<flatbuffers::Vector<uint8_t>> write_tools(FlatBufferBuilder& b, const BundleSpec& spec) {
  FlatBufferBuilder tools;
  std::vector<Offset<schema::PlanCalls>> plans;
  for (const Target& target : spec.targets) {
    for (const Plan& plan : target.plans) plans.push_back(write_plan_calls(tools, plan));
  }
  auto plan_vector = tools.CreateVector(plans);
  tools.Finish(schema::CreateTools(tools, plan_vector));
  b.ForceVectorAlignment(tools.GetSize(), 1, alignof(uint64_t));
  return b.CreateVector(tools.GetBufferPointer(), tools.GetSize());
}

bool has_jumps(const BundleSpec& spec) {
  for (const Target& target : spec.targets) {
    for (const Plan& plan : target.plans) {
      if (std::any_of(plan.steps.begin(), plan.steps.end(),
                      [](const Step& s) { return s.kind != StepKind::kKernel; })) {
        return true;
      }
    }
  }
  return false;
}

std::vector<std::string> required_features(const BundleSpec& spec) {
  std::vector<std::string> names = spec.required_features;
  const std::string flow = INGOT_FEATURE_CONTROL_FLOW;
  if (has_jumps(spec) && !contains(names, flow)) names.push_back(flow);
  return names;
}

}  // namespace

std::vector<std::byte> write_metadata(const BundleSpec& spec, const SegmentTable& segments) {
  FlatBufferBuilder b;
  b.ForceDefaults(true);  // else a field that equals its default is left out, and the length depends on the values
  std::vector<schema::Segment> records;
  for (const ingot_segment_record& s : segments.records) {
    records.emplace_back(s.offset, s.stored_bytes, s.bytes, s.checksum, s.kind, s.compression);
  }
  auto segment_vector = b.CreateVectorOfStructs(records);
  std::vector<Offset<schema::Target>> targets;
  for (size_t i = 0; i < spec.targets.size(); ++i) {
    targets.push_back(write_target(b, spec.targets[i], segments.code[i], segments.rodata[i]));
  }
  auto target_vector = b.CreateVector(targets);
  auto entries = write_all<Entry, schema::Entry>(b, spec.entries, write_entry);
  auto states = write_all<State, schema::State>(b, spec.states, write_state);
  auto frozen = write_all<Frozen, schema::Frozen>(b, spec.frozen, write_frozen);
  auto producer = b.CreateString(spec.producer);
  auto name = b.CreateString(spec.name);
  std::vector<Offset<flatbuffers::String>> features;
  for (const std::string& feature : required_features(spec)) features.push_back(b.CreateString(feature));
  auto feature_vector = b.CreateVector(features);
  auto tools = write_tools(b, spec);
  b.Finish(schema::CreateBundle(b, feature_vector, producer, name, segment_vector, target_vector, entries, states,
                                spec.state_bytes, segments.initial_state.value_or(INGOT_NONE), tools, frozen,
                                spec.is_strict),
           schema::BundleIdentifier());
  std::vector<std::byte> bytes(b.GetSize());
  std::memcpy(bytes.data(), b.GetBufferPointer(), bytes.size());
  return bytes;
}

}  // namespace ingot::bundle
