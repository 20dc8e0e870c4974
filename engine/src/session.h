// A session: one running instance of a bundle, in its caller's memory.
#pragma once

#include <ingot/engine.h>

#include "engine/src/bundle.h"
#include "engine/src/worker_pool.h"

namespace ingot::engine {

// An entry point, ready to run.
struct RunEntry {
  PlanView plan;
  // Arena, state, rodata, inputs, outputs: what kernels see as context.bases. Behind them, as numbers, how many bytes each
  // input and output has.
  uint8_t** bases;
  // Of a step where a loop or a case of steps of one task begins: the first step behind it. Of others: zero. Null if
  // the plan has no jumps.
  const uint32_t* serial_end;
  uint32_t input_count;
  uint32_t output_count;
  bool initializes;    // it is the one named "init"
  bool is_parallel;    // some step has several tasks
  bool ports_checked;  // since the last binding
};

// Whether a step has work for several threads.
inline bool is_parallel(const ingot_bundle& bundle, const ingot_step_record& step) {
  return step.kind == INGOT_STEP_KERNEL && bundle.code.kernels[step.kernel].task_count > 1;
}

constexpr uint32_t kThreadsMax = 1024;

// For ingot_requirements.
uint64_t session_bytes(const Metadata& metadata, uint32_t target);
constexpr uint64_t kSessionBytesPerThread = kWorkerBytes;

// INGOT_NOT_INITIALIZED if a state has no value yet.
ingot_status check_has_values(const ingot_session& session, ingot_error* error);

// INGOT_BUSY within a run, where a trace is called.
ingot_status check_not_running(const ingot_session& session, ingot_error* error);

// That, or INGOT_BUSY if a run in slices is not finished.
ingot_status check_not_busy(const ingot_session& session, ingot_error* error);

}  // namespace ingot::engine

struct ingot_session {
  ingot_session(const ingot_bundle* of, const ingot_memory& memory, uint32_t thread_count, void* workers)
      : bundle(of),
        arena(static_cast<uint8_t*>(memory.arena)),
        state(static_cast<uint8_t*>(memory.state)),
        scratch(static_cast<uint8_t*>(memory.scratch)),
        pool(thread_count, workers) {}

  const ingot_bundle* bundle;
  uint8_t* arena;
  uint8_t* state;
  uint8_t* scratch;  // scratch_bytes_per_thread for each thread
  ingot::engine::RunEntry* entries = nullptr;
  uint8_t* state_known = nullptr;  // for each state: 1 once it has a value
  bool has_values = false;         // all of them are known to be 1
  uint8_t* state_seen = nullptr;   // for each state: used while loading
  bool is_running = false;
  uint32_t slice_entry = INGOT_NONE;
  uint32_t slice_step = 0;     // of slice_entry, where the next slice begins
  uint32_t decisions[2] = {};  // of the run's even and odd tests: the step that each leads to
  bool is_traced = false;
  ingot_trace trace_before = nullptr;
  ingot_trace trace_after = nullptr;
  void* trace_user = nullptr;
  ingot_metrics metrics = {};
  ingot::engine::WorkerPool pool;
};
