#include "engine/src/worker_pool.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "engine/src/float_environment.h"
#include "engine/src/memory_cursor.h"

namespace ingot::engine {

struct Worker {
  WorkerPool* pool;
  uint32_t thread;
  pthread_t id;
};
static_assert(sizeof(Worker) <= kWorkerBytes);

// Waits at the barrier for work, does its share, meets the others there, and again.
void* WorkerPool::serve(void* argument) {
  const Worker& worker = *static_cast<Worker*>(argument);
  WorkerPool& pool = *worker.pool;
  const FloatEnvironment environment;
  for (;;) {
    pool.barrier_.wait();
    if (!pool.work_) return nullptr;
    pool.work_(pool.argument_, worker.thread);
    pool.barrier_.wait();
  }
}

namespace {

constexpr uint64_t kEngineStackBytes = 16 << 10;  // what calls a kernel

// At least as much stack as is needed; more where that is usual.
void set_stack(pthread_attr_t* attributes, uint64_t needed_bytes) {
  size_t usual_bytes = 0;
  pthread_attr_init(attributes);
  pthread_attr_getstacksize(attributes, &usual_bytes);
  constexpr uint64_t kPageBytesMax = 1 << 16;
  if (usual_bytes < needed_bytes) pthread_attr_setstacksize(attributes, round_up(needed_bytes, kPageBytesMax));
}

void block_signals(sigset_t* before) {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, before);
}

}  // namespace

ingot_status WorkerPool::start(uint64_t stack_bytes, ingot_error* error) {
  if (thread_count_ <= 1) return INGOT_OK;
  pthread_attr_t attributes;
  sigset_t signals;
  set_stack(&attributes, stack_bytes + kEngineStackBytes);
  block_signals(&signals);
  process_ = getpid();
  int reason = 0;
  for (uint32_t thread = 1; thread < thread_count_ && reason == 0; ++thread) {
    Worker* worker = workers_ + thread;
    worker->pool = this;
    worker->thread = thread;
    reason = pthread_create(&worker->id, &attributes, serve, worker);
    if (reason == 0) ++started_count_;
  }
  pthread_sigmask(SIG_SETMASK, &signals, nullptr);
  pthread_attr_destroy(&attributes);
  if (reason == 0) return INGOT_OK;
  const uint32_t failed = started_count_ + 2;
  barrier_.expect(started_count_ + 1);
  stop();
  return fail(error, INGOT_NO_THREADS, "cannot start thread %u of %u: %s", failed, thread_count_,
              std::strerror(reason));
}

ingot_status WorkerPool::check_process(ingot_error* error) const {
  if (thread_count_ <= 1 || process_ == getpid()) return INGOT_OK;
  return fail(error, INGOT_NO_THREADS, "the session's threads stayed in the process that made it: make another");
}

void WorkerPool::stop() {
  if (started_count_ == 0 || check_process(nullptr) != INGOT_OK) return;
  work_ = nullptr;
  barrier_.wait();
  for (uint32_t thread = 1; thread <= started_count_; ++thread) pthread_join(workers_[thread].id, nullptr);
  started_count_ = 0;
}

void WorkerPool::run_alone(Work work, void* argument) {
  const FloatEnvironment environment;
  work(argument, 0);
}

void WorkerPool::run(Work work, void* argument) {
  if (thread_count_ == 1) return run_alone(work, argument);
  work_ = work;
  argument_ = argument;
  barrier_.wait();
  run_alone(work, argument);
  barrier_.wait();
}

void WorkerPool::wait_for_all() { barrier_.wait(); }

}  // namespace ingot::engine
