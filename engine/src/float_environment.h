// The floating-point modes that kernels run in: round to nearest, denormals kept, no traps. Whatever the caller's
// thread had set is back afterwards. This is part of "the same inputs give the same bits".
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace ingot::engine {

class FloatEnvironment {
 public:
  FloatEnvironment() : before_(get()) { set(kDefault); }
  ~FloatEnvironment() { set(before_); }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr uint64_t kDefault = 0x1f80;
  static uint64_t get() { return _mm_getcsr(); }
  static void set(uint64_t value) { _mm_setcsr(static_cast<uint32_t>(value)); }
#elif defined(__aarch64__)
  static constexpr uint64_t kDefault = 0;
  static uint64_t get() {
    uint64_t value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void set(uint64_t value) { __asm__ volatile("msr fpcr, %0" ::"r"(value)); }
#elif defined(__riscv)
  static constexpr uint64_t kDefault = 0;
  static uint64_t get() {
    uint64_t value;
    __asm__ volatile("frcsr %0" : "=r"(value));
    return value;
  }
  static void set(uint64_t value) { __asm__ volatile("fscsr %0" ::"r"(value)); }
#elif defined(__arm__) && defined(__ARM_FP)
  static constexpr uint64_t kDefault = 0;
  static uint64_t get() {
    uint32_t value;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(value));
    return value;
  }
  static void set(uint64_t value) { __asm__ volatile("vmsr fpscr, %0" ::"r"(static_cast<uint32_t>(value))); }
#else
  static constexpr uint64_t kDefault = 0;
  static uint64_t get() { return 0; }
  static void set(uint64_t) {}
#endif

  uint64_t before_;
};

}  // namespace ingot::engine
