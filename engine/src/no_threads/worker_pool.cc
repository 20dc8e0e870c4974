// The caller's thread alone.
#include "engine/src/worker_pool.h"

#include "engine/src/float_environment.h"

namespace ingot::engine {

ingot_status WorkerPool::start(uint64_t, ingot_error* error) {
  if (thread_count_ <= 1) return INGOT_OK;
  return fail(error, INGOT_NO_THREADS, "this engine was built without INGOT_ENGINE_THREADS: ask for one thread");
}

ingot_status WorkerPool::check_process(ingot_error*) const { return INGOT_OK; }

void WorkerPool::stop() {}

void WorkerPool::run_alone(Work work, void* argument) {
  const FloatEnvironment environment;
  work(argument, 0);
}

}  // namespace ingot::engine
