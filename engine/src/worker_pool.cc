#include "engine/src/worker_pool.h"

#include <cstring>

#include "engine/src/float_environment.h"

#ifdef INGOT_ENGINE_THREADS
#include <pthread.h>
#endif

namespace ingot::engine {

#ifdef INGOT_ENGINE_THREADS

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

ingot_status WorkerPool::start(ingot_error* error) {
  for (uint32_t thread = 1; thread < thread_count_; ++thread) {
    Worker* worker = workers_ + thread;
    worker->pool = this;
    worker->thread = thread;
    if (const int reason = pthread_create(&worker->id, nullptr, serve, worker); reason != 0) {
      barrier_.expect(started_count_ + 1);
      stop();
      return fail(error, INGOT_NO_THREADS, "cannot start thread %u of %u: %s", thread + 1, thread_count_,
                  std::strerror(reason));
    }
    ++started_count_;
  }
  return INGOT_OK;
}

void WorkerPool::stop() {
  if (started_count_ == 0) return;
  work_ = nullptr;
  barrier_.wait();
  for (uint32_t thread = 1; thread <= started_count_; ++thread) pthread_join(workers_[thread].id, nullptr);
  started_count_ = 0;
}

#else

struct Worker {};

ingot_status WorkerPool::start(ingot_error* error) {
  if (thread_count_ <= 1) return INGOT_OK;
  return fail(error, INGOT_NO_THREADS, "this engine was built without INGOT_ENGINE_THREADS: ask for one thread");
}

void WorkerPool::stop() {}

#endif

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

}  // namespace ingot::engine
