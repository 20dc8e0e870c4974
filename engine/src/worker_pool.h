// A session's threads: the caller's, which is thread 0, and any that the pool has started.
#pragma once

#include <cstdint>

#include "engine/src/barrier.h"
#include "engine/src/error.h"

namespace ingot::engine {

struct Worker;  // one started thread

constexpr uint64_t kWorkerBytes = 64;

class WorkerPool {
 public:
  using Work = void (*)(void* argument, uint32_t thread);

  WorkerPool(uint32_t thread_count, void* workers) : barrier_(thread_count), thread_count_(thread_count) {
    workers_ = static_cast<Worker*>(workers);
  }

  // Starts thread_count - 1 threads, for work that takes `stack_bytes`. `workers` holds kWorkerBytes for each thread.
  // They are interrupted by no signal but those of their own faults.
  ingot_status start(uint64_t stack_bytes, ingot_error* error);
  void stop();

  // INGOT_NO_THREADS in a process that was forked: its threads are not there.
  ingot_status check_process(ingot_error* error) const;

  // Calls work(argument, thread) on every thread at once; returns when all have returned.
  void run(Work work, void* argument);

  // Calls work(argument, 0) on the caller's thread, and leaves the others asleep.
  void run_alone(Work work, void* argument);

  // For use inside `work`, by several threads: returns once every thread has called it.
  void wait_for_all();

  uint32_t thread_count() const { return thread_count_; }
  uint32_t sleeps() const { return barrier_.sleeps(); }

 private:
  static void* serve(void* worker);

  Barrier barrier_;
  uint32_t thread_count_;
  uint32_t started_count_ = 0;
  int process_ = 0;  // where threads were started
  Worker* workers_;
  Work work_ = nullptr;  // null tells the threads to end
  void* argument_ = nullptr;
};

}  // namespace ingot::engine
