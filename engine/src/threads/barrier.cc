#include "engine/src/barrier.h"

#include <sched.h>

#include "engine/src/clock.h"

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ingot::engine {
namespace {

// Waking a sleeper takes 6 to 17 us, a meeting of spinning threads 0.1 to 0.2: spinning is worth a few wake-ups' time.
// By the clock, since a pause lasts from 5 to 200 cycles.
constexpr uint64_t kSpinNs = 50'000;
constexpr int kPausesPerClockRead = 32;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#elif defined(__riscv)
  __asm__ volatile(".insn i 0x0F, 0, x0, x0, 0x010");  // pause, of the extension Zihintpause; else a fence of nothing
#endif
}

}  // namespace

void Barrier::wait() {
  const uint32_t generation = generation_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == thread_count_.load(std::memory_order_relaxed)) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.store(generation + 1, std::memory_order_seq_cst);
#ifdef __linux__
    if (sleepers_.load(std::memory_order_seq_cst) != 0) {
      syscall(SYS_futex, &generation_, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
    }
#endif
    return;
  }
  if (!spin(generation)) sleep(generation);
}

// True once the others have come; false if that takes too long.
bool Barrier::spin(uint32_t generation) const {
  const uint64_t deadline_ns = now_ns() + kSpinNs;
  do {
    for (int i = 0; i < kPausesPerClockRead; ++i) {
      if (generation_.load(std::memory_order_acquire) != generation) return true;
      pause();
    }
  } while (now_ns() < deadline_ns);
  return false;
}

void Barrier::sleep(uint32_t generation) {
  sleeps_.fetch_add(1, std::memory_order_relaxed);
#ifdef __linux__
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  while (generation_.load(std::memory_order_seq_cst) == generation) {
    syscall(SYS_futex, &generation_, FUTEX_WAIT_PRIVATE, generation, nullptr, nullptr, 0);
  }
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
#else
  while (generation_.load(std::memory_order_acquire) == generation) sched_yield();
#endif
}

}  // namespace ingot::engine
