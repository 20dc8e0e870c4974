// What a bundle tells people of its steps: the kernels of the program that they are parts of.
#include "engine/python/objects.h"
#include "schema/bundle_generated.h"
#include "schema/bundle_header.h"
#include "schema/plan_records.h"
#include "schema/text.h"

namespace ingot::python {
namespace {

using Metadata = schema::Bundle;

// The engine has verified all of it but what is there for tools.
const Metadata& metadata_of(const ingot_bundle* bundle) {
  const auto* bytes = static_cast<const uint8_t*>(ingot_get_bytes(bundle));
  const auto* header = reinterpret_cast<const ingot_bundle_header*>(bytes);
  return *flatbuffers::GetRoot<Metadata>(bytes + header->metadata_offset);
}

// The index of the target that the engine has picked.
uint32_t target_of(const ingot_bundle* bundle, const Metadata& metadata) {
  ingot_bundle_info info = {};
  ingot_get_bundle_info(bundle, &info);
  uint32_t index = 0;
  while (metadata.targets()->Get(index)->name()->c_str() != info.target) ++index;
  return index;
}

// What tools are told of a plan; null if that is nothing, or damaged.
const schema::PlanCalls* calls_of(const Metadata& metadata, uint32_t target, uint32_t entry) {
  const flatbuffers::Vector<uint8_t>* tools = metadata.tools();
  if (!tools || reinterpret_cast<uintptr_t>(tools->Data()) % alignof(uint64_t) != 0) return nullptr;
  flatbuffers::Verifier verifier(tools->Data(), tools->size());
  if (!verifier.VerifyBuffer<schema::Tools>(nullptr)) return nullptr;
  const auto* plans = flatbuffers::GetRoot<schema::Tools>(tools->Data())->plan_calls();
  const uint32_t index = target * metadata.entries()->size() + entry;
  return plans && index < plans->size() ? plans->Get(index) : nullptr;
}

const schema::Call* call_of(const schema::PlanCalls* calls, uint32_t step) {
  if (!calls || !calls->calls() || !calls->step_calls() || step >= calls->step_calls()->size()) return nullptr;
  const uint32_t call = calls->step_calls()->Get(step);
  return call < calls->calls()->size() ? calls->calls()->Get(call) : nullptr;
}

// "" where there is none, or none that may be shown.
const char* text_of(const flatbuffers::String* text) {
  return text && ingot_is_plain_text(text->c_str(), text->size()) ? text->c_str() : "";
}

// (name, source) of a step's call, or else of its kernel; None of a step that only jumps.
PyObject* describe(const schema::Step& step, const schema::Call* call, const schema::Target& target) {
  if (step.kind() != INGOT_STEP_KERNEL) return Py_NewRef(Py_None);
  const auto* names = target.kernel_names();
  const char* name = call ? text_of(call->name()) : "";
  if (!name[0] && names && step.kernel() < names->size()) name = names->Get(step.kernel())->c_str();
  return Py_BuildValue("(ss)", name, call ? text_of(call->source()) : "");
}

}  // namespace

PyObject* kernels(PyObject* self, PyObject* args) {
  unsigned int entry = 0;
  if (!PyArg_ParseTuple(args, "I", &entry)) return nullptr;
  const ingot_bundle* bundle = reinterpret_cast<Bundle*>(self)->open->bundle;
  ingot_entry_info info = {};
  ingot_error error = {};
  if (ingot_get_entry_info(bundle, entry, &info, &error) != INGOT_OK) return raise(error);
  const Metadata& metadata = metadata_of(bundle);
  const uint32_t target_index = target_of(bundle, metadata);
  const schema::Target& target = *metadata.targets()->Get(target_index);
  const schema::PlanCalls* calls = calls_of(metadata, target_index, entry);
  PyObject* all = PyTuple_New(static_cast<Py_ssize_t>(info.step_count));
  for (uint32_t i = 0; all && i < info.step_count; ++i) {
    PyObject* one = describe(*target.plans()->Get(entry)->steps()->Get(i), call_of(calls, i), target);
    if (!one || PyTuple_SetItem(all, static_cast<Py_ssize_t>(i), one) != 0) Py_CLEAR(all);
  }
  return all;
}

}  // namespace ingot::python
