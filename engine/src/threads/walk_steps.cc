#include "engine/src/walk.h"

namespace ingot::engine {
namespace {

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

}  // namespace

void walk_steps(const Walk& walk, bool is_parallel) {
  WorkerPool& pool = walk.session->pool;
  auto* argument = const_cast<Walk*>(&walk);
  if (is_parallel && pool.thread_count() > 1) {
    pool.run(walk_together, argument);
  } else {
    pool.run_alone(walk_alone, argument);
  }
}

}  // namespace ingot::engine
