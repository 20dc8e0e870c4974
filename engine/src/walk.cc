#include "engine/src/walk.h"

#include <cstring>

#include "engine/src/clock.h"
#include "engine/src/control_flow.h"

namespace ingot::engine {
namespace {

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
  const auto kernel = kernel_at(session.bundle->image, record.code_offset);
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
  if (session.trace_before) session.trace_before(session.trace_user, &event);
  event.begin_ns = now_ns();
  const uint32_t next = take_step(walk, index, 0);
  event.end_ns = now_ns();
  if (session.trace_after) session.trace_after(session.trace_user, &event);
  return next;
}

}  // namespace

uint32_t take_step(const Walk& walk, uint32_t index, uint32_t thread) {
  const ingot_step_record& step = walk.entry->plan.steps[index];
  if (step.kind != INGOT_STEP_KERNEL) return follow(*walk.entry, step, index);
  call_kernel(*walk.session, *walk.entry, step, thread);
  return index + 1;
}

uint32_t run_step_on_first_thread(const Walk& walk, uint32_t index) {
  ++walk.session->metrics.steps;
  return walk.session->is_traced ? take_step_traced(walk, index) : take_step(walk, index, 0);
}

void walk_alone(void* argument, uint32_t) {
  const Walk& walk = *static_cast<const Walk*>(argument);
  for (uint32_t i = walk.begin; i != walk.end;) i = run_step_on_first_thread(walk, i);
}

bool group_is_parallel(const Walk& walk, uint32_t begin) {
  const ingot_step_record* steps = walk.entry->plan.steps;
  for (uint32_t i = begin; i < walk.end && (i == begin || !(steps[i].flags & INGOT_STEP_BARRIER)); ++i) {
    if (is_parallel(*walk.session->bundle, steps[i])) return true;
  }
  return false;
}

}  // namespace ingot::engine
