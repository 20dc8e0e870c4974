// Running: all threads walk the same table of steps.
#include <cstddef>

#include "engine/src/clock.h"
#include "engine/src/memory_cursor.h"
#include "engine/src/session.h"

using namespace ingot::engine;

namespace {

// Steps [begin, end) of an entry point, for all threads of the session.
struct Walk {
  ingot_session* session;
  const RunEntry* entry;
  uint32_t entry_index;
  uint32_t begin;
  uint32_t end;
};

// The tasks [begin, end) of a step that are a thread's. A step of one task is thread 0's.
struct Share {
  uint32_t begin;
  uint32_t end;
};

Share share_of(uint32_t task_count, uint32_t thread, uint32_t thread_count) {
  if (task_count == 1) return {0, thread == 0 ? 1u : 0u};
  const auto at = [&](uint64_t t) { return static_cast<uint32_t>(t * task_count / thread_count); };
  return {at(thread), at(thread + 1)};
}

void call_kernel(const ingot_session& session, const RunEntry& entry, const ingot_step_record& step, uint32_t thread) {
  const ingot_kernel_record& record = session.bundle->code.kernels[step.kernel];
  const ingot_kernel_context context = {
      entry.bases,
      entry.plan.operands + step.first_operand,
      session.scratch ? session.scratch + thread * session.bundle->requirements.scratch_bytes_per_thread : nullptr,
  };
  const auto kernel =
      reinterpret_cast<ingot_kernel>(reinterpret_cast<uintptr_t>(session.bundle->image.bytes + record.code_offset));
  const Share share = share_of(record.task_count, thread, session.pool.thread_count());
  for (uint32_t task = share.begin; task < share.end; ++task) kernel(&context, task);
}

void call_traced(const Walk& walk, const ingot_step_record& step, uint32_t index) {
  const ingot_session& session = *walk.session;
  ingot_trace_event event = {};
  event.entry = walk.entry_index;
  event.step = index;
  event.kernel = session.bundle->metadata.kernel_name(session.bundle->target, step.kernel);
  event.task_count = session.bundle->code.kernels[step.kernel].task_count;
  event.begin_ns = now_ns();
  call_kernel(session, *walk.entry, step, 0);
  event.end_ns = now_ns();
  session.trace(session.trace_user, &event);
}

bool is_parallel(const ingot_session& session, const ingot_step_record& step) {
  return session.bundle->code.kernels[step.kernel].task_count > 1;
}

// Whether threads beside the first have work in the group of steps that begins at `begin`.
bool group_is_parallel(const Walk& walk, uint32_t begin) {
  const ingot_step_record* steps = walk.entry->plan.steps;
  for (uint32_t i = begin; i < walk.end && (i == begin || !(steps[i].flags & INGOT_STEP_BARRIER)); ++i) {
    if (is_parallel(*walk.session, steps[i])) return true;
  }
  return false;
}

// All threads take the same decisions here. They meet at a barrier only if the others had work since they last met, or
// have some until the next barrier: a row of steps of one task each costs no meeting.
void walk_steps(void* argument, uint32_t thread) {
  const Walk& walk = *static_cast<const Walk*>(argument);
  ingot_session& session = *walk.session;
  const bool alone = session.pool.thread_count() == 1;
  bool others_worked = false;
  uint32_t meeting_count = 0;
  for (uint32_t i = walk.begin; i < walk.end; ++i) {
    const ingot_step_record& step = walk.entry->plan.steps[i];
    if (!alone && (step.flags & INGOT_STEP_BARRIER) && i != walk.begin &&
        (others_worked || group_is_parallel(walk, i))) {
      session.pool.meet();
      others_worked = false;
      ++meeting_count;
    }
    others_worked |= is_parallel(session, step);
    if (thread == 0 && session.trace) {
      call_traced(walk, step, i);
    } else {
      call_kernel(session, *walk.entry, step, thread);
    }
  }
  if (thread == 0) {
    session.metrics.steps += walk.end - walk.begin;
    session.metrics.meetings += meeting_count;
  }
}

struct Port {
  const uint8_t* data;
  uint64_t bytes;
  const char* name;
};

Port port_of(const ingot_session& session, uint32_t entry_index, uint32_t port) {
  const RunEntry& entry = session.entries[entry_index];
  const Metadata& m = session.bundle->metadata;
  const ingot_tensor_info tensor =
      port < entry.input_count ? m.input(entry_index, port) : m.output(entry_index, port - entry.input_count);
  return {entry.bases[INGOT_BASE_IO + port], tensor.bytes, tensor.name};
}

bool overlap(const uint8_t* a, uint64_t a_bytes, const uint8_t* b, uint64_t b_bytes) {
  const auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return a_bytes != 0 && b_bytes != 0 && x < y + b_bytes && y < x + a_bytes;
}

// Everything bound, and no output where something else lies.
ingot_status check_ports(ingot_session* session, uint32_t entry_index, ingot_error* error) {
  RunEntry& entry = session->entries[entry_index];
  const ingot_requirements& r = session->bundle->requirements;
  const uint32_t count = entry.input_count + entry.output_count;
  for (uint32_t i = 0; i < count; ++i) {
    const Port port = port_of(*session, entry_index, i);
    if (!port.data) return fail(error, INGOT_NOT_BOUND, "'%.150s' has no memory bound to it", port.name);
    if (overlap(port.data, port.bytes, session->arena, r.arena_bytes)) {
      return fail(error, INGOT_OVERLAP, "'%.150s' overlaps the arena", port.name);
    }
    if (i < entry.input_count) continue;
    if (overlap(port.data, port.bytes, session->state, r.state_bytes)) {
      return fail(error, INGOT_OVERLAP, "output '%.150s' overlaps the state", port.name);
    }
    for (uint32_t j = 0; j < i; ++j) {
      const Port other = port_of(*session, entry_index, j);
      if (overlap(port.data, port.bytes, other.data, other.bytes)) {
        return fail(error, INGOT_OVERLAP, "output '%.100s' overlaps '%.100s'", port.name, other.name);
      }
    }
  }
  entry.ports_checked = true;
  return INGOT_OK;
}

ingot_status check_ready(ingot_session* session, uint32_t entry_index, ingot_error* error) {
  if (!session) return fail(error, INGOT_BAD_ARGUMENT, "the session is null");
  INGOT_TRY(check_index("entry point", entry_index, session->bundle->metadata.entry_count(), error));
  if (session->slice_entry != entry_index) INGOT_TRY(check_not_busy(*session, error));
  RunEntry& entry = session->entries[entry_index];
  if (!session->has_values && !entry.initializes) {
    INGOT_TRY(check_has_values(*session, error));
    session->has_values = true;
  }
  return entry.ports_checked ? INGOT_OK : check_ports(session, entry_index, error);
}

void walk_range(ingot_session* session, uint32_t entry_index, uint32_t begin, uint32_t end) {
  Walk walk = {session, &session->entries[entry_index], entry_index, begin, end};
  if (walk.entry->is_parallel) {
    session->pool.run(walk_steps, &walk);
  } else {
    session->pool.run_alone(walk_steps, &walk);
  }
}

void finish_run(ingot_session* session, const RunEntry& entry) {
  ++session->metrics.runs;
  if (!entry.initializes) return;
  for (uint32_t i = 0; i < session->bundle->metadata.state_count(); ++i) session->state_known[i] = 1;
}

// The first step behind `at` that begins a group, or the end.
uint32_t next_group(const PlanView& plan, uint32_t at) {
  while (at < plan.step_count && !(plan.steps[at].flags & INGOT_STEP_BARRIER)) ++at;
  return at;
}

}  // namespace

ingot_status ingot_run(ingot_session* session, uint32_t entry_index, ingot_error* error) {
  INGOT_TRY(check_ready(session, entry_index, error));
  INGOT_TRY(check_not_busy(*session, error));
  const RunEntry& entry = session->entries[entry_index];
  walk_range(session, entry_index, 0, entry.plan.step_count);
  finish_run(session, entry);
  return INGOT_OK;
}

ingot_status ingot_run_slice(ingot_session* session, uint32_t entry_index, uint32_t step_limit, uint64_t deadline_ns,
                             int32_t* finished, ingot_error* error) {
  if (!finished) return fail(error, INGOT_BAD_ARGUMENT, "finished is null");
  INGOT_TRY(check_ready(session, entry_index, error));
  const RunEntry& entry = session->entries[entry_index];
  const uint32_t step_count = entry.plan.step_count;
  if (session->slice_entry == INGOT_NONE) {
    session->slice_entry = entry_index;
    session->slice_step = 0;
  }
  const uint32_t left = step_count - session->slice_step;
  const uint32_t target = step_limit == 0 || step_limit > left ? step_count : session->slice_step + step_limit;
  do {
    const uint32_t begin = session->slice_step;
    const uint32_t end = deadline_ns == 0 ? next_group(entry.plan, target)
                                          : next_group(entry.plan, begin < step_count ? begin + 1 : begin);
    walk_range(session, entry_index, begin, end);
    session->slice_step = end;
  } while (session->slice_step < target && now_ns() < deadline_ns);
  *finished = session->slice_step == step_count;
  if (*finished) {
    session->slice_entry = INGOT_NONE;
    finish_run(session, entry);
  }
  return INGOT_OK;
}

void ingot_abandon_run(ingot_session* session) {
  if (session) session->slice_entry = INGOT_NONE;
}

void ingot_set_trace(ingot_session* session, ingot_trace trace, void* user) {
  session->trace = trace;
  session->trace_user = user;
}

void ingot_get_metrics(const ingot_session* session, ingot_metrics* out) {
  *out = session->metrics;
  out->sleeps = session->pool.sleeps();
}
