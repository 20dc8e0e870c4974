// The walk over the steps of an entry point, which all threads take together, or the first alone.
#pragma once

#include "engine/src/session.h"

namespace ingot::engine {

// Steps from `begin` until `end` comes, of an entry point.
struct Walk {
  ingot_session* session;
  const RunEntry* entry;
  uint32_t entry_index;
  uint32_t begin;
  uint32_t end;
};

// A thread's part of a step. Returns the step that comes next.
uint32_t take_step(const Walk& walk, uint32_t index, uint32_t thread);

// The same for the first thread, which counts and traces.
uint32_t run_step_on_first_thread(const Walk& walk, uint32_t index);

// By the first thread alone. `argument` is a Walk.
void walk_alone(void* argument, uint32_t thread);

// By the session's threads, where steps have work for several; else by the first.
void walk_steps(const Walk& walk, bool is_parallel);

// Whether threads beside the first have work in the group of steps that begins at `begin`.
bool group_is_parallel(const Walk& walk, uint32_t begin);

}  // namespace ingot::engine
