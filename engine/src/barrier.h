// Where threads meet: each waits until all have come. Spins for a bounded time, then sleeps.
#pragma once

#include <atomic>
#include <cstdint>

namespace ingot::engine {

class Barrier {
 public:
  explicit Barrier(uint32_t thread_count) : thread_count_(thread_count) {}

  // Returns once all `thread_count` threads have called it; what they wrote before is then visible to all.
  void wait();

  // For fewer threads than were expected. Not while the last of them may be arriving.
  void expect(uint32_t thread_count) { thread_count_.store(thread_count, std::memory_order_relaxed); }

  // Times that a thread has slept.
  uint32_t sleeps() const { return sleeps_.load(std::memory_order_relaxed); }

 private:
  bool spin(uint32_t generation) const;
  void sleep(uint32_t generation);

  std::atomic<uint32_t> thread_count_;
  std::atomic<uint32_t> arrived_{0};
  alignas(64) std::atomic<uint32_t> generation_{0};  // counts the meetings
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> sleeps_{0};
};

}  // namespace ingot::engine
