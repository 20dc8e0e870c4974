#include "engine/src/bundle.h"

#include <cstring>
#include <initializer_list>
#include <new>

#include "engine/src/checksum.h"
#include "engine/src/cpu_features.h"
#include "engine/src/inflate.h"
#include "engine/src/memory_cursor.h"
#include "engine/src/session.h"
#include "engine/src/verify_plan.h"

namespace ingot::engine {
namespace {

ingot_status check_segment(const ingot_bundle& bundle, const ingot_segment_record& segment, const char* what,
                           ingot_error* error) {
  if (checksum(bundle.segment_bytes(segment), segment.stored_bytes) == segment.checksum) return INGOT_OK;
  return fail(error, INGOT_DAMAGED, "the checksum of the %s does not match", what);
}

// Whether this processor runs the target's code; if so, the code is described by bundle->code. If not, `error` tells why,
// behind what it tells of targets before.
ingot_status try_target(ingot_bundle* bundle, uint32_t target, const CpuFeatures& cpu, ingot_error* error) {
  const ingot_segment_record& segment = *bundle->metadata.code(target);
  INGOT_TRY(check_segment(*bundle, segment, "code", error));
  CodeView code;
  INGOT_TRY(read_code_segment(bundle->segment_bytes(segment), segment.bytes, &code, error));
  const char* name = bundle->metadata.target_name(target);
  const char* between = error && error->text[0] ? "; " : "";
  if (std::strcmp(code.isa, CpuFeatures::isa()) != 0) {
    return fail_also(error, INGOT_NO_TARGET, "%s'%.60s' is code for %s, which this processor (%s) is not", between,
                     name, code.isa, CpuFeatures::isa());
  }
  const char* missing = nullptr;
  size_t missing_bytes = 0;
  if (!cpu.has_all(code.features, code.features_bytes, &missing, &missing_bytes)) {
    const int shown_bytes = missing_bytes < 60 ? static_cast<int>(missing_bytes) : 60;
    return fail_also(error, INGOT_NO_TARGET, "%s'%.60s' needs '%.*s', which this processor lacks", between, name,
                     shown_bytes, missing);
  }
  bundle->code = code;
  bundle->target = target;
  return INGOT_OK;
}

// The first target that runs here, or the one asked for. The error tells of each that was tried.
ingot_status pick_target(ingot_bundle* bundle, const char* wanted, ingot_error* error) {
  const CpuFeatures cpu;
  bool is_tried = false;
  if (error) error->text[0] = 0;
  for (uint32_t i = 0; i < bundle->metadata.target_count(); ++i) {
    if (wanted && std::strcmp(wanted, bundle->metadata.target_name(i)) != 0) continue;
    const ingot_status status = try_target(bundle, i, cpu, error);
    if (status != INGOT_NO_TARGET) return status;
    is_tried = true;
  }
  if (is_tried) return INGOT_NO_TARGET;
  return fail(error, INGOT_NO_TARGET, "the bundle has no target%s%.100s", wanted ? " named " : "",
              wanted ? wanted : "");
}

void raise(uint64_t* value, uint64_t to) {
  if (*value < to) *value = to;
}

// What the verification of an entry's plan works with, in the memory behind the bundle.
struct Workspace {
  Extent* states;
  uint64_t* port_bytes;  // inputs, then outputs
  uint8_t* plan;         // as large as verify_workspace_bytes says
};

Workspace take_workspace(const ingot_bundle& bundle, uint32_t entry_index, MemoryCursor& cursor) {
  const Metadata& m = bundle.metadata;
  const EntryView entry = m.entry(entry_index);
  Workspace w;
  w.states = cursor.take<Extent>(m.state_count());
  w.port_bytes = cursor.take<uint64_t>(uint64_t{entry.input_count} + entry.output_count);
  const PlanView plan = m.plan(bundle.target, entry_index);
  w.plan = cursor.take<uint8_t>(verify_workspace_bytes(plan, m.state_count(), entry.output_count));
  return w;
}

// The largest that any entry needs.
uint64_t workspace_bytes(const ingot_bundle& bundle) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < bundle.metadata.entry_count(); ++i) {
    MemoryCursor cursor(nullptr);
    take_workspace(bundle, i, cursor);
    raise(&most, cursor.used_bytes());
  }
  return most;
}

void fill_requirements(ingot_bundle* bundle) {
  const Metadata& m = bundle->metadata;
  ingot_requirements& r = bundle->requirements;
  r = ingot_requirements();
  r.alignment_bytes = kBlockAlignmentBytes;
  r.state_bytes = m.state_bytes();
  for (uint32_t i = 0; i < m.entry_count(); ++i) {
    const PlanView plan = m.plan(bundle->target, i);
    raise(&r.alignment_bytes, plan.alignment_bytes);
    raise(&r.arena_bytes, plan.arena_bytes);
    raise(&r.scratch_bytes_per_thread, plan_scratch_bytes(bundle->code, plan));
  }
  for (uint32_t i = 0; i < bundle->code.kernel_count; ++i) raise(&r.stack_bytes, bundle->code.kernels[i].stack_bytes);
  r.bundle_bytes = round_up(sizeof(ingot_bundle), kBlockAlignmentBytes) + workspace_bytes(*bundle);
  r.session_bytes = session_bytes(m, bundle->target);
  r.session_bytes_per_thread = kSessionBytesPerThread;
}

// Whether addresses of this processor reach so far: a count of bytes that it cuts off would pass for a small one.
bool is_addressable(const ingot_bundle& bundle) {
  if constexpr (sizeof(size_t) < sizeof(uint64_t)) {
    const ingot_requirements& r = bundle.requirements;
    uint64_t most = r.scratch_bytes_per_thread;
    for (const uint64_t bytes : {r.bundle_bytes, r.session_bytes, r.arena_bytes, r.state_bytes}) raise(&most, bytes);
    for (uint32_t i = 0; i < bundle.metadata.entry_count(); ++i) {
      const EntryView entry = bundle.metadata.entry(i);
      for (uint32_t j = 0; j < entry.input_count + entry.output_count; ++j) {
        raise(&most, bundle.metadata.port(i, j).bytes);
      }
    }
    return most <= SIZE_MAX;
  }
  return true;
}

// Everything that probing and opening have in common. bundle->file is set.
ingot_status read_bundle(ingot_bundle* bundle, const ingot_open_options& options, bool checks_rodata,
                         ingot_error* error) {
  const FileBytes& file = bundle->file;
  if (options.bundle_check) {
    INGOT_TRY(options.bundle_check(options.bundle_check_user, file.bytes, file.byte_count, error));
  }
  if (!is_aligned(file.bytes, kBlockAlignmentBytes)) {
    return fail(error, INGOT_MISALIGNED, "the bundle's bytes must start at a multiple of 64");
  }
  INGOT_TRY(bundle->metadata.read(file.bytes, file.byte_count, error));
  INGOT_TRY(pick_target(bundle, options.target, error));
  if (const ingot_segment_record* rodata = bundle->metadata.rodata(bundle->target)) {
    bundle->rodata = bundle->segment_bytes(*rodata);
    bundle->rodata_bytes = rodata->bytes;
    if (checks_rodata) INGOT_TRY(check_segment(*bundle, *rodata, "read-only data", error));
  }
  fill_requirements(bundle);
  if (is_addressable(*bundle)) return INGOT_OK;
  return fail(error, INGOT_TOO_LITTLE_MEMORY, "the bundle needs more memory than this processor has addresses for");
}

ingot_status verify_plans(const ingot_bundle& bundle, void* workspace, ingot_error* error) {
  const Metadata& m = bundle.metadata;
  for (uint32_t i = 0; i < m.entry_count(); ++i) {
    const EntryView entry = m.entry(i);
    MemoryCursor cursor(workspace);
    const Workspace w = take_workspace(bundle, i, cursor);
    for (uint32_t j = 0; j < m.state_count(); ++j) {
      const ingot_tensor_info tensor = m.state(j).tensor;
      w.states[j] = {tensor.offset_bytes, tensor.offset_bytes + tensor.bytes};
    }
    for (uint32_t j = 0; j < entry.input_count + entry.output_count; ++j) w.port_bytes[j] = m.port(i, j).bytes;
    PlanSurroundings around;
    around.code = &bundle.code;
    around.states = w.states;
    around.state_count = m.state_count();
    around.port_bytes = w.port_bytes;
    around.input_count = entry.input_count;
    around.output_count = entry.output_count;
    around.rodata_bytes = bundle.rodata_bytes;
    INGOT_TRY(verify_plan(m.plan(bundle.target, i), around, w.plan, error));
  }
  return INGOT_OK;
}

ingot_status make_executable(ingot_bundle* bundle, const ingot_open_options& options, ingot_error* error) {
  const ingot_segment_record& segment = *bundle->metadata.code(bundle->target);
  if (options.code_check &&
      options.code_check(options.code_check_user, bundle->segment_bytes(segment), segment.stored_bytes) != 0) {
    return fail(error, INGOT_CODE_REFUSED, "the host's check refused the code of '%.100s'",
                bundle->metadata.target_name(bundle->target));
  }
  return map_code(bundle->file, segment.offset + bundle->code.image_offset, bundle->code.image,
                  bundle->code.image_bytes, &bundle->image, error);
}

FileBytes borrowed(const void* bytes, uint64_t byte_count) {
  FileBytes map;
  map.bytes = static_cast<const uint8_t*>(bytes);
  map.byte_count = byte_count;
  return map;
}

}  // namespace

const ingot_open_options& chosen(const ingot_open_options* options) {
  static constexpr ingot_open_options kDefaults = {};
  return options ? *options : kDefaults;
}

ingot_status open_bundle(const FileBytes& file, const ingot_open_options& options, void* memory, uint64_t memory_bytes,
                         ingot_bundle** out, ingot_error* error) {
  ingot_bundle bundle;
  bundle.file = file;
  const auto open = [&]() -> ingot_status {
    INGOT_TRY(read_bundle(&bundle, options, !options.trust_rodata, error));
    if (!is_aligned(memory, kBlockAlignmentBytes)) {
      return fail(error, INGOT_MISALIGNED, "the bundle's memory must start at a multiple of 64");
    }
    if (memory_bytes < bundle.requirements.bundle_bytes) {
      return fail(error, INGOT_TOO_LITTLE_MEMORY, "the bundle needs %ju bytes and was given %ju",
                  bundle.requirements.bundle_bytes, memory_bytes);
    }
    const ingot_segment_record* initial = bundle.metadata.initial_state();
    if (initial) {
      INGOT_TRY(check_segment(bundle, *initial, "initial state", error));
      INGOT_TRY(check_readable(*initial, "initial state", error));
    }
    void* workspace = static_cast<uint8_t*>(memory) + round_up(sizeof(ingot_bundle), kBlockAlignmentBytes);
    INGOT_TRY(verify_plans(bundle, workspace, error));
    return make_executable(&bundle, options, error);
  };
  if (const ingot_status status = open(); status != INGOT_OK) {
    free_bytes(&bundle.file);
    return status;
  }
  *out = new (memory) ingot_bundle(bundle);
  return INGOT_OK;
}

ingot_status probe_bundle(const FileBytes& file, const ingot_open_options& options, ingot_requirements* out,
                          ingot_error* error) {
  ingot_bundle bundle;
  bundle.file = file;
  const ingot_status status = read_bundle(&bundle, options, false, error);
  free_bytes(&bundle.file);
  if (status == INGOT_OK) *out = bundle.requirements;
  return status;
}

uint64_t plan_scratch_bytes(const CodeView& code, const PlanView& plan) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < plan.step_count; ++i) {
    if (plan.steps[i].kind != INGOT_STEP_KERNEL) continue;
    if (plan.steps[i].kernel >= code.kernel_count) continue;  // verify_plan refuses it
    raise(&most, code.kernels[plan.steps[i].kernel].scratch_bytes);
  }
  return round_up(most, kBlockAlignmentBytes);
}

}  // namespace ingot::engine

using namespace ingot::engine;

ingot_status ingot_probe_memory(const void* bytes, uint64_t byte_count, ingot_requirements* out, ingot_error* error) {
  return ingot_probe_memory_with(bytes, byte_count, nullptr, out, error);
}

ingot_status ingot_probe_memory_with(const void* bytes, uint64_t byte_count, const ingot_open_options* options,
                                     ingot_requirements* out, ingot_error* error) {
  if (!bytes || !out) return null_argument(error);
  return probe_bundle(borrowed(bytes, byte_count), chosen(options), out, error);
}

ingot_status ingot_open_memory(const void* bytes, uint64_t byte_count, const ingot_open_options* options, void* memory,
                               uint64_t memory_bytes, ingot_bundle** out, ingot_error* error) {
  if (!bytes || !memory || !out) return null_argument(error);
  return open_bundle(borrowed(bytes, byte_count), chosen(options), memory, memory_bytes, out, error);
}

void ingot_close(ingot_bundle* bundle) {
  if (!bundle) return;
  unmap_code(&bundle->image);
  free_bytes(&bundle->file);
}
