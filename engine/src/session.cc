#include "engine/src/session.h"

#include <cstring>
#include <new>

#include "engine/src/control_flow.h"
#include "engine/src/inflate.h"
#include "engine/src/memory_cursor.h"
#include "schema/bundle_header.h"

namespace ingot::engine {
namespace {

// The objects of a session, in its block of memory.
struct Layout {
  ingot_session* session;
  RunEntry* entries;
  uint8_t** bases;        // of all entries
  uint32_t* serial_ends;  // of all steps of the entries that jump
  uint8_t* state_known;
  uint8_t* state_seen;
  uint8_t* inflate_workspace;  // null unless needed
  uint8_t* workers;
  uint64_t bytes;
};

Layout lay_out(const Metadata& m, uint32_t target, void* block, uint32_t thread_count) {
  uint64_t base_count = 0;
  uint64_t jumping_step_count = 0;
  for (uint32_t i = 0; i < m.entry_count(); ++i) {
    const EntryView entry = m.entry(i);
    base_count += INGOT_BASE_IO + 2 * (uint64_t{entry.input_count} + entry.output_count);
    const PlanView plan = m.plan(target, i);
    if (has_jumps(plan)) jumping_step_count += plan.step_count;
  }
  const ingot_segment_record* initial = m.initial_state();
  const bool inflates = initial && initial->compression != INGOT_COMPRESSION_NONE;
  MemoryCursor cursor(block);
  Layout layout;
  layout.session = cursor.take<ingot_session>(1);
  layout.entries = cursor.take<RunEntry>(m.entry_count());
  layout.bases = cursor.take<uint8_t*>(base_count);
  layout.serial_ends = cursor.take<uint32_t>(jumping_step_count);
  layout.state_known = cursor.take<uint8_t>(m.state_count());
  layout.state_seen = cursor.take<uint8_t>(m.state_count());
  layout.inflate_workspace = cursor.take<uint8_t>(inflates ? kInflateWorkspaceBytes : 0);
  layout.workers = cursor.take<uint8_t>(uint64_t{thread_count} * kSessionBytesPerThread);
  layout.bytes = cursor.used_bytes();
  return layout;
}

struct Block {
  const char* what;
  const void* address;
  uint64_t given_bytes;
  uint64_t needed_bytes;
};

ingot_status check_memory(const ingot_bundle& bundle, const ingot_memory& memory, uint32_t thread_count,
                          ingot_error* error) {
  const ingot_requirements& r = bundle.requirements;
  const Block blocks[] = {
      {"session", memory.session, memory.session_bytes, r.session_bytes + thread_count * r.session_bytes_per_thread},
      {"arena", memory.arena, memory.arena_bytes, r.arena_bytes},
      {"state", memory.state, memory.state_bytes, r.state_bytes},
      {"scratch", memory.scratch, memory.scratch_bytes, thread_count * r.scratch_bytes_per_thread},
  };
  for (const Block& block : blocks) {
    if (block.needed_bytes == 0) continue;
    if (!block.address) return fail(error, INGOT_BAD_ARGUMENT, "the %s memory is null", block.what);
    if (!is_aligned(block.address, r.alignment_bytes)) {
      return fail(error, INGOT_MISALIGNED, "the %s memory must start at a multiple of %ju", block.what,
                  r.alignment_bytes);
    }
    if (block.given_bytes < block.needed_bytes) {
      return fail(error, INGOT_TOO_LITTLE_MEMORY, "the %s needs %ju bytes and was given %ju", block.what,
                  block.needed_bytes, block.given_bytes);
    }
  }
  return INGOT_OK;
}

// Fills in RunEntry::serial_end: of the loops and cases that begin at a step, the one that ends last.
void find_serial_parts(const ingot_bundle& bundle, const PlanView& plan, uint32_t* serial_end) {
  std::memset(serial_end, 0, plan.step_count * sizeof(uint32_t));
  uint32_t parallel_step = plan.step_count;  // the next one
  for (uint32_t i = plan.step_count; i-- > 0;) {
    const ingot_step_record& step = plan.steps[i];
    if (is_parallel(bundle, step)) parallel_step = i;
    if (step.kind != INGOT_STEP_JUMP_UNLESS) continue;
    const uint32_t end = plan.steps[step.target - 1].target;  // of its case; of a loop's test, where the loop begins
    if (end > i && end <= parallel_step) serial_end[i] = end;
  }
  uint32_t serial_begin = 0;  // behind the last parallel step
  for (uint32_t i = 0; i < plan.step_count; ++i) {
    const ingot_step_record& step = plan.steps[i];
    if (is_parallel(bundle, step)) serial_begin = i + 1;
    const bool is_loop = step.kind == INGOT_STEP_JUMP && step.target <= i;
    if (is_loop && step.target >= serial_begin) serial_end[step.target] = i + 1;
  }
}

void start_entries(ingot_session* session, const Layout& layout) {
  const ingot_bundle& bundle = *session->bundle;
  uint8_t** bases = layout.bases;
  uint32_t* serial_ends = layout.serial_ends;
  for (uint32_t i = 0; i < bundle.metadata.entry_count(); ++i) {
    const EntryView view = bundle.metadata.entry(i);
    RunEntry* entry = new (&layout.entries[i]) RunEntry();
    entry->plan = bundle.metadata.plan(bundle.target, i);
    entry->bases = bases;
    entry->input_count = view.input_count;
    entry->output_count = view.output_count;
    entry->initializes = std::strcmp(view.name, "init") == 0;
    for (uint32_t j = 0; j < entry->plan.step_count; ++j) {
      entry->is_parallel |= is_parallel(bundle, entry->plan.steps[j]);
    }
    if (has_jumps(entry->plan)) {
      find_serial_parts(bundle, entry->plan, serial_ends);
      entry->serial_end = serial_ends;
      serial_ends += entry->plan.step_count;
    }
    bases[INGOT_BASE_ARENA] = session->arena;
    bases[INGOT_BASE_STATE] = session->state;
    bases[INGOT_BASE_RODATA] = const_cast<uint8_t*>(bundle.rodata);
    const uint32_t port_count = view.input_count + view.output_count;
    for (uint32_t j = 0; j < port_count; ++j) {
      const uint64_t bytes = bundle.metadata.port(i, j).bytes;
      const uint8_t* otherwise = j < view.input_count ? bundle.metadata.input_default(i, j) : nullptr;
      bases[INGOT_BASE_IO + port_count + j] = reinterpret_cast<uint8_t*>(uintptr_t(bytes));
      // What has no bytes needs no binding.
      bases[INGOT_BASE_IO + j] = bytes == 0 ? reinterpret_cast<uint8_t*>(session) : const_cast<uint8_t*>(otherwise);
    }
    bases += INGOT_BASE_IO + 2 * port_count;
  }
}

// Gives every state its first value, and tells which have none.
ingot_status start_state(const ingot_bundle& bundle, uint8_t* state, bool keeps, const Layout& layout,
                         ingot_error* error) {
  const Metadata& m = bundle.metadata;
  if (!keeps && m.state_bytes() > 0) std::memset(state, 0, m.state_bytes());
  const ingot_segment_record nothing = {};
  const ingot_segment_record* initial = m.initial_state();
  const ingot_segment_record& segment = initial ? *initial : nothing;
  SegmentReader reader(segment, bundle.segment_bytes(segment), layout.inflate_workspace);
  for (uint32_t i = 0; i < m.state_count(); ++i) {
    const StateView view = m.state(i);
    layout.state_known[i] = keeps || view.start != INGOT_START_UNSET;
    if (!keeps && view.start == INGOT_START_SEGMENT &&
        !reader.read(state + view.tensor.offset_bytes, view.tensor.bytes)) {
      return fail(error, INGOT_DAMAGED, "the initial state ends within '%.150s'", view.tensor.name);
    }
  }
  return INGOT_OK;
}

}  // namespace

uint64_t session_bytes(const Metadata& metadata, uint32_t target) {
  return lay_out(metadata, target, nullptr, 0).bytes;
}

ingot_status check_has_values(const ingot_session& session, ingot_error* error) {
  const Metadata& m = session.bundle->metadata;
  for (uint32_t i = 0; i < m.state_count(); ++i) {
    if (session.state_known[i]) continue;
    return fail(error, INGOT_NOT_INITIALIZED, "'%.100s' has no value yet: run 'init' or load a state file first",
                m.state(i).tensor.name);
  }
  return INGOT_OK;
}

ingot_status check_not_running(const ingot_session& session, ingot_error* error) {
  return session.is_running ? fail(error, INGOT_BUSY, "the session is running: a trace may only look on") : INGOT_OK;
}

ingot_status check_not_busy(const ingot_session& session, ingot_error* error) {
  INGOT_TRY(check_not_running(session, error));
  if (session.slice_entry == INGOT_NONE) return INGOT_OK;
  return fail(error, INGOT_BUSY, "a run of '%.100s' in slices is not finished: finish or abandon it",
              session.bundle->metadata.entry(session.slice_entry).name);
}

}  // namespace ingot::engine

using namespace ingot::engine;

namespace {

ingot_status create(const ingot_bundle* bundle, const ingot_memory* memory, ingot_session** out, ingot_error* error,
                    bool keeps_state) {
  if (!bundle || !memory || !out) return null_argument(error);
  const uint32_t thread_count = memory->threads == 0 ? 1 : memory->threads;
  if (thread_count > kThreadsMax) {
    return fail(error, INGOT_BAD_ARGUMENT, "%u threads are more than %u", thread_count, kThreadsMax);
  }
  INGOT_TRY(check_memory(*bundle, *memory, thread_count, error));
  const Layout layout = lay_out(bundle->metadata, bundle->target, memory->session, thread_count);
  INGOT_TRY(start_state(*bundle, static_cast<uint8_t*>(memory->state), keeps_state, layout, error));
  auto* session = new (layout.session) ingot_session(bundle, *memory, thread_count, layout.workers);
  session->entries = layout.entries;
  session->state_known = layout.state_known;
  session->state_seen = layout.state_seen;
  start_entries(session, layout);
  INGOT_TRY(session->pool.start(bundle->requirements.stack_bytes, error));
  *out = session;
  return INGOT_OK;
}

}  // namespace

ingot_status ingot_create(const ingot_bundle* bundle, const ingot_memory* memory, ingot_session** out,
                          ingot_error* error) {
  return create(bundle, memory, out, error, false);
}

ingot_status ingot_create_with_state(const ingot_bundle* bundle, const ingot_memory* memory, ingot_session** out,
                                     ingot_error* error) {
  return create(bundle, memory, out, error, true);
}

void ingot_destroy(ingot_session* session) {
  if (session) session->pool.stop();
}

namespace {

ingot_status bind(ingot_session* session, uint32_t entry_index, uint32_t port, const void* data, uint64_t bytes,
                  ingot_error* error) {
  const ingot_tensor_info tensor = session->bundle->metadata.port(entry_index, port);
  if (!data) return fail(error, INGOT_BAD_ARGUMENT, "the memory for '%.150s' is null", tensor.name);
  if (bytes != tensor.bytes) {
    return fail(error, INGOT_WRONG_SIZE, "'%.120s' has %ju bytes and was given %ju", tensor.name, tensor.bytes, bytes);
  }
  if (!is_aligned(data, INGOT_BUFFER_ALIGNMENT_BYTES)) {
    return fail(error, INGOT_MISALIGNED, "the memory for '%.120s' must start at a multiple of %d", tensor.name,
                INGOT_BUFFER_ALIGNMENT_BYTES);
  }
  RunEntry& entry = session->entries[entry_index];
  entry.bases[INGOT_BASE_IO + port] = static_cast<uint8_t*>(const_cast<void*>(data));
  entry.ports_checked = false;
  return INGOT_OK;
}

ingot_status check_session_entry(const ingot_session* session, uint32_t entry, ingot_error* error) {
  if (!session) return fail(error, INGOT_BAD_ARGUMENT, "the session is null");
  INGOT_TRY(check_index("entry point", entry, session->bundle->metadata.entry_count(), error));
  return check_not_busy(*session, error);
}

}  // namespace

ingot_status ingot_bind_input(ingot_session* session, uint32_t entry, uint32_t input, const void* data, uint64_t bytes,
                              ingot_error* error) {
  INGOT_TRY(check_session_entry(session, entry, error));
  INGOT_TRY(check_index("input", input, session->entries[entry].input_count, error));
  return bind(session, entry, input, data, bytes, error);
}

ingot_status ingot_bind_output(ingot_session* session, uint32_t entry, uint32_t output, void* data, uint64_t bytes,
                               ingot_error* error) {
  INGOT_TRY(check_session_entry(session, entry, error));
  INGOT_TRY(check_index("output", output, session->entries[entry].output_count, error));
  return bind(session, entry, session->entries[entry].input_count + output, data, bytes, error);
}
