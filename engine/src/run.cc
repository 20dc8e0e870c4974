// Running an entry point: what is looked at before, and what is counted behind it.
#include <cstring>

#include "engine/src/clock.h"
#include "engine/src/walk.h"

using namespace ingot::engine;

namespace {

// Whether memory that begins at `a` and is not empty overlaps other memory.
bool overlap(const uint8_t* a, uint64_t a_bytes, const uint8_t* b, uint64_t b_bytes) {
  const auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return b_bytes != 0 && (y - x < a_bytes || x - y < b_bytes);
}

// Everything bound, and no output where something else lies.
ingot_status check_ports(ingot_session* session, uint32_t entry_index, ingot_error* error) {
  RunEntry& entry = session->entries[entry_index];
  const ingot_requirements& r = session->bundle->requirements;
  const uint8_t* const* data = entry.bases + INGOT_BASE_IO;
  const uint32_t count = entry.input_count + entry.output_count;
  const auto* bytes = reinterpret_cast<const uintptr_t*>(data + count);
  const auto name = [&](uint32_t port) { return session->bundle->metadata.port(entry_index, port).name; };
  for (uint32_t i = 0; i < count; ++i) {
    if (!data[i]) return fail(error, INGOT_NOT_BOUND, "'%.150s' has no memory bound to it", name(i));
    if (bytes[i] == 0) continue;
    if (overlap(data[i], bytes[i], session->arena, r.arena_bytes)) {
      return fail(error, INGOT_OVERLAP, "'%.150s' overlaps the arena", name(i));
    }
    if (i < entry.input_count) continue;
    if (overlap(data[i], bytes[i], session->state, r.state_bytes)) {
      return fail(error, INGOT_OVERLAP, "output '%.150s' overlaps the state", name(i));
    }
    for (uint32_t j = 0; j < i; ++j) {
      if (overlap(data[i], bytes[i], data[j], bytes[j])) {
        return fail(error, INGOT_OVERLAP, "output '%.100s' overlaps '%.100s'", name(i), name(j));
      }
    }
  }
  entry.ports_checked = true;
  return INGOT_OK;
}

ingot_status check_ready(ingot_session* session, uint32_t entry_index, ingot_error* error) {
  if (!session) return fail(error, INGOT_BAD_ARGUMENT, "the session is null");
  INGOT_TRY(check_index("entry point", entry_index, session->bundle->metadata.entry_count(), error));
  INGOT_TRY(check_not_running(*session, error));
  if (session->slice_entry != entry_index) INGOT_TRY(check_not_busy(*session, error));
  RunEntry& entry = session->entries[entry_index];
  if (entry.is_parallel) INGOT_TRY(session->pool.check_process(error));  // costs a system call
  if (!session->has_values && !entry.initializes) {
    INGOT_TRY(check_has_values(*session, error));
    session->has_values = true;
  }
  return entry.ports_checked ? INGOT_OK : check_ports(session, entry_index, error);
}

void finish_run(ingot_session* session, const RunEntry& entry) {
  ++session->metrics.runs;
  if (!entry.initializes) return;
  std::memset(session->state_known, 1, session->bundle->metadata.state_count());
}

// One group of steps, or one jump. Returns how many steps that were.
uint32_t run_group(ingot_session* session) {
  const RunEntry& entry = session->entries[session->slice_entry];
  const PlanView& plan = entry.plan;
  const uint32_t begin = session->slice_step;
  Walk walk = {session, &entry, session->slice_entry, begin, begin + 1};
  if (plan.steps[begin].kind != INGOT_STEP_KERNEL) {
    session->slice_step = run_step_on_first_thread(walk, begin);
    return 1;
  }
  while (walk.end < plan.step_count && !(plan.steps[walk.end].flags & INGOT_STEP_BARRIER)) ++walk.end;
  walk_steps(walk, group_is_parallel(walk, begin));
  session->slice_step = walk.end;
  return walk.end - begin;
}

}  // namespace

ingot_status ingot_run(ingot_session* session, uint32_t entry_index, ingot_error* error) {
  INGOT_TRY(check_ready(session, entry_index, error));
  INGOT_TRY(check_not_busy(*session, error));
  const RunEntry& entry = session->entries[entry_index];
  session->is_running = true;
  walk_steps({session, &entry, entry_index, 0, entry.plan.step_count}, entry.is_parallel);
  session->is_running = false;
  finish_run(session, entry);
  return INGOT_OK;
}

ingot_status ingot_run_slice(ingot_session* session, uint32_t entry_index, uint32_t step_limit, uint64_t deadline_ns,
                             int32_t* finished, ingot_error* error) {
  if (!finished) return fail(error, INGOT_BAD_ARGUMENT, "finished is null");
  if (deadline_ns != 0) INGOT_TRY(check_clock(error));
  INGOT_TRY(check_ready(session, entry_index, error));
  const RunEntry& entry = session->entries[entry_index];
  const uint32_t step_count = entry.plan.step_count;
  if (session->slice_entry == INGOT_NONE) {
    session->slice_entry = entry_index;
    session->slice_step = 0;
  }
  uint64_t taken_count = 0;
  session->is_running = true;
  while (session->slice_step != step_count) {
    taken_count += run_group(session);
    if ((step_limit != 0 && taken_count >= step_limit) || (deadline_ns != 0 && now_ns() >= deadline_ns)) break;
  }
  session->is_running = false;
  *finished = session->slice_step == step_count;
  if (*finished) {
    session->slice_entry = INGOT_NONE;
    finish_run(session, entry);
  }
  return INGOT_OK;
}

void ingot_abandon_run(ingot_session* session) {
  if (session && !session->is_running) session->slice_entry = INGOT_NONE;
}

void ingot_set_trace(ingot_session* session, ingot_trace before, ingot_trace after, void* user) {
  if (!session) return;
  session->is_traced = before || after;
  session->trace_before = before;
  session->trace_after = after;
  session->trace_user = user;
}

void ingot_get_metrics(const ingot_session* session, ingot_metrics* out) {
  if (!session || !out) return;
  *out = session->metrics;
  out->sleeps = session->pool.sleeps();
}
