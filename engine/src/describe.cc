// The part of the C API that tells what is in a bundle.
#include "engine/src/bundle.h"
#include "engine/src/names.h"
#include "schema/bundle_header.h"

using namespace ingot::engine;

namespace {

ingot_status check_entry(const ingot_bundle* bundle, uint32_t entry, const void* out, ingot_error* error) {
  if (!bundle || !out) return null_argument(error);
  return check_index("entry point", entry, bundle->metadata.entry_count(), error);
}

// The inputs of an entry point, or its outputs.
Names ports_of(const ingot_bundle* bundle, uint32_t entry, bool are_outputs) {
  const EntryView view = bundle->metadata.entry(entry);
  const auto name_of = [](const Metadata& m, uint32_t entry, uint32_t i) { return m.port(entry, i).name; };
  if (are_outputs) return {"output", view.output_count, name_of, entry, view.input_count};
  return {"input", view.input_count, name_of, entry, 0};
}

ingot_status get_port_info(const ingot_bundle* bundle, uint32_t entry, bool is_output, uint32_t index,
                           ingot_tensor_info* out, ingot_error* error) {
  INGOT_TRY(check_entry(bundle, entry, out, error));
  const Names ports = ports_of(bundle, entry, is_output);
  INGOT_TRY(check_index(ports.what, index, ports.count, error));
  *out = bundle->metadata.port(entry, ports.first + index);
  return INGOT_OK;
}

ingot_status find_port(const ingot_bundle* bundle, uint32_t entry, bool is_output, const char* name, uint32_t* out,
                       ingot_error* error) {
  INGOT_TRY(check_entry(bundle, entry, name ? out : nullptr, error));
  return find_by_name(bundle->metadata, ports_of(bundle, entry, is_output), name, out, error);
}

const char* entry_name(const Metadata& m, uint32_t, uint32_t i) { return m.entry(i).name; }
const char* state_name(const Metadata& m, uint32_t, uint32_t i) { return m.state(i).tensor.name; }

// A state, or an entry point.
ingot_status find(const ingot_bundle* bundle, bool is_state, const char* name, uint32_t* out, ingot_error* error) {
  if (!bundle || !name || !out) return null_argument(error);
  const Metadata& m = bundle->metadata;
  const Names names =
      is_state ? Names{"state", m.state_count(), state_name} : Names{"entry point", m.entry_count(), entry_name};
  return find_by_name(m, names, name, out, error);
}

}  // namespace

void ingot_get_bundle_info(const ingot_bundle* bundle, ingot_bundle_info* out) {
  if (!bundle || !out) return;
  const Metadata& m = bundle->metadata;
  out->name = m.name();
  out->producer = m.producer();
  out->target = m.target_name(bundle->target);
  out->code_bytes = bundle->code.image_bytes;
  out->rodata_bytes = bundle->rodata_bytes;
  out->state_bytes = m.state_bytes();
  out->entry_count = m.entry_count();
  out->state_count = m.state_count();
  out->kernel_count = bundle->code.kernel_count;
  out->checksum = reinterpret_cast<const ingot_bundle_header*>(bundle->file.bytes)->metadata_checksum;
}

const void* ingot_get_bytes(const ingot_bundle* bundle) { return bundle ? bundle->file.bytes : nullptr; }

ingot_status ingot_get_entry_info(const ingot_bundle* bundle, uint32_t entry, ingot_entry_info* out,
                                  ingot_error* error) {
  INGOT_TRY(check_entry(bundle, entry, out, error));
  const EntryView view = bundle->metadata.entry(entry);
  const PlanView plan = bundle->metadata.plan(bundle->target, entry);
  out->name = view.name;
  out->input_count = view.input_count;
  out->output_count = view.output_count;
  out->step_count = plan.step_count;
  out->arena_bytes = plan.arena_bytes;
  out->lower_bound_bytes = plan.lower_bound_bytes;
  out->scratch_bytes = plan_scratch_bytes(bundle->code, plan);
  return INGOT_OK;
}

ingot_status ingot_get_input_info(const ingot_bundle* bundle, uint32_t entry, uint32_t input, ingot_tensor_info* out,
                                  ingot_error* error) {
  return get_port_info(bundle, entry, false, input, out, error);
}

ingot_status ingot_get_input_default(const ingot_bundle* bundle, uint32_t entry, uint32_t input, const void** out,
                                     ingot_error* error) {
  INGOT_TRY(check_entry(bundle, entry, out, error));
  INGOT_TRY(check_index("input", input, bundle->metadata.entry(entry).input_count, error));
  *out = bundle->metadata.input_default(entry, input);
  return INGOT_OK;
}

ingot_status ingot_get_output_info(const ingot_bundle* bundle, uint32_t entry, uint32_t output, ingot_tensor_info* out,
                                   ingot_error* error) {
  return get_port_info(bundle, entry, true, output, out, error);
}

ingot_status ingot_get_state_info(const ingot_bundle* bundle, uint32_t state, ingot_tensor_info* out,
                                  ingot_error* error) {
  if (!bundle || !out) return null_argument(error);
  INGOT_TRY(check_index("state", state, bundle->metadata.state_count(), error));
  *out = bundle->metadata.state(state).tensor;
  return INGOT_OK;
}

ingot_status ingot_find_entry(const ingot_bundle* bundle, const char* name, uint32_t* out, ingot_error* error) {
  return find(bundle, false, name, out, error);
}

ingot_status ingot_find_input(const ingot_bundle* bundle, uint32_t entry, const char* name, uint32_t* out,
                              ingot_error* error) {
  return find_port(bundle, entry, false, name, out, error);
}

ingot_status ingot_find_output(const ingot_bundle* bundle, uint32_t entry, const char* name, uint32_t* out,
                               ingot_error* error) {
  return find_port(bundle, entry, true, name, out, error);
}

ingot_status ingot_find_state(const ingot_bundle* bundle, const char* name, uint32_t* out, ingot_error* error) {
  return find(bundle, true, name, out, error);
}
