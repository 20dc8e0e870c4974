// Running: all threads walk the same table of steps.
#include <cstring>

#include "engine/src/clock.h"
#include "engine/src/control_flow.h"
#include "engine/src/memory_cursor.h"
#include "engine/src/session.h"

using namespace ingot::engine;

namespace {

// Steps from `begin` until `end` comes, of an entry point.
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

// Where a jump leads.
uint32_t follow(const RunEntry& entry, const ingot_step_record& step, uint32_t index) {
  if (step.kind == INGOT_STEP_JUMP) return step.target;
  const ingot_operand& operand = entry.plan.operands[step.first_operand];
  uint32_t value = 0;
  std::memcpy(&value, entry.bases[operand.base] + operand.offset_bytes, operand_bytes(step));
  return value == step.kernel ? index + 1 : step.target;
}

// A thread's part of a step. Returns the step that comes next.
uint32_t take_step(const Walk& walk, uint32_t index, uint32_t thread) {
  const ingot_step_record& step = walk.entry->plan.steps[index];
  if (step.kind != INGOT_STEP_KERNEL) return follow(*walk.entry, step, index);
  call_kernel(*walk.session, *walk.entry, step, thread);
  return index + 1;
}

uint32_t take_step_traced(const Walk& walk, uint32_t index) {
  const ingot_session& session = *walk.session;
  const ingot_step_record& step = walk.entry->plan.steps[index];
  ingot_trace_event event = {};
  event.entry = walk.entry_index;
  event.step = index;
  if (step.kind == INGOT_STEP_KERNEL) {
    event.kernel = session.bundle->metadata.kernel_name(session.bundle->target, step.kernel);
    event.task_count = session.bundle->code.kernels[step.kernel].task_count;
  } else {
    event.kernel = step.kind == INGOT_STEP_JUMP ? "jump" : "jump_unless";
  }
  event.begin_ns = now_ns();
  const uint32_t next = take_step(walk, index, 0);
  event.end_ns = now_ns();
  session.trace(session.trace_user, &event);
  return next;
}

// The same for the first thread, which counts and traces.
uint32_t run_step_on_first_thread(const Walk& walk, uint32_t index) {
  ++walk.session->metrics.steps;
  return walk.session->trace ? take_step_traced(walk, index) : take_step(walk, index, 0);
}

// Whether threads beside the first have work in the group of steps that begins at `begin`.
bool group_is_parallel(const Walk& walk, uint32_t begin) {
  const ingot_step_record* steps = walk.entry->plan.steps;
  for (uint32_t i = begin; i < walk.end && (i == begin || !(steps[i].flags & INGOT_STEP_BARRIER)); ++i) {
    if (is_parallel(*walk.session->bundle, steps[i])) return true;
  }
  return false;
}

// By the first thread alone.
void walk_alone(void* argument, uint32_t) {
  const Walk& walk = *static_cast<const Walk*>(argument);
  for (uint32_t i = walk.begin; i != walk.end;) i = run_step_on_first_thread(walk, i);
}

// By all threads, which take the same decisions here. They meet at a barrier only if the others had work since they
// last met, or if the first had some and they have until the next barrier: a row of steps of one task each costs no
// meeting. A loop or a case of such steps is the first thread's; the others go on behind it.
//
// Elsewhere the first thread reads what a test depends on, and tells the others where it leads. They read that after
// the meeting that follows and before the next one. The next test uses the other slot and has a meeting of its own, so
// that the first thread comes to write to this slot again only behind that.
void walk_together(void* argument, uint32_t thread) {
  const Walk& walk = *static_cast<const Walk*>(argument);
  ingot_session& session = *walk.session;
  bool worked = false, others_worked = false;  // since the threads last met
  uint32_t test_count = 0;
  const auto wait_for_all = [&] {
    session.pool.wait_for_all();
    worked = others_worked = false;
    if (thread == 0) ++session.metrics.meetings;
  };
  for (uint32_t i = walk.begin; i < walk.end;) {
    const ingot_step_record& step = walk.entry->plan.steps[i];
    if ((step.flags & INGOT_STEP_BARRIER) && step.kind != INGOT_STEP_JUMP &&
        (others_worked || (worked && group_is_parallel(walk, i)))) {
      wait_for_all();
    }
    if (const uint32_t serial_end = walk.entry->serial_end ? walk.entry->serial_end[i] : 0; serial_end != 0) {
      Walk serial = {walk.session, walk.entry, walk.entry_index, i, serial_end};
      if (thread == 0) walk_alone(&serial, 0);
      worked = true;
      i = serial_end;
    } else if (step.kind == INGOT_STEP_JUMP_UNLESS) {
      uint32_t& next = session.decisions[test_count++ % 2];
      if (thread == 0) next = run_step_on_first_thread(walk, i);
      wait_for_all();
      i = next;
    } else {
      worked |= step.kind == INGOT_STEP_KERNEL;
      others_worked |= is_parallel(*session.bundle, step);
      i = thread == 0 ? run_step_on_first_thread(walk, i) : take_step(walk, i, thread);
    }
  }
}

struct Port {
  const uint8_t* data;
  uint64_t bytes;
  const char* name;
};

Port port_of(const ingot_session& session, uint32_t entry_index, uint32_t port) {
  const RunEntry& entry = session.entries[entry_index];
  const ingot_tensor_info tensor = session.bundle->metadata.port(entry_index, port);
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
  INGOT_TRY(check_not_running(*session, error));
  if (session->slice_entry != entry_index) INGOT_TRY(check_not_busy(*session, error));
  INGOT_TRY(session->pool.check_process(error));
  RunEntry& entry = session->entries[entry_index];
  if (!session->has_values && !entry.initializes) {
    INGOT_TRY(check_has_values(*session, error));
    session->has_values = true;
  }
  return entry.ports_checked ? INGOT_OK : check_ports(session, entry_index, error);
}

void walk_steps(const Walk& walk, bool is_parallel) {
  WorkerPool& pool = walk.session->pool;
  auto* argument = const_cast<Walk*>(&walk);
  if (is_parallel && pool.thread_count() > 1) {
    pool.run(walk_together, argument);
  } else {
    pool.run_alone(walk_alone, argument);
  }
}

void finish_run(ingot_session* session, const RunEntry& entry) {
  ++session->metrics.runs;
  if (!entry.initializes) return;
  for (uint32_t i = 0; i < session->bundle->metadata.state_count(); ++i) session->state_known[i] = 1;
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

void ingot_set_trace(ingot_session* session, ingot_trace trace, void* user) {
  if (!session) return;
  session->trace = trace;
  session->trace_user = user;
}

void ingot_get_metrics(const ingot_session* session, ingot_metrics* out) {
  if (!session || !out) return;
  *out = session->metrics;
  out->sleeps = session->pool.sleeps();
}
