// What measurements share: clocks, the least of several calls, the machine's peak.
#pragma once

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

#include "aot/codegen/compile.h"
#include "aot/codegen/execute.h"
#include "aot/loops/probe_kernels.h"
#include "tests/support/buffer.h"

namespace ingot::bench {

inline double clock_ns(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// This thread's own time: others may run meanwhile.
inline double thread_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }
inline double wall_ns() { return clock_ns(CLOCK_MONOTONIC); }

// The least time of a call, of as many as together take `at_least_ns`; one at least.
inline double best_ns(double at_least_ns, const std::function<void()>& call, double (*now_ns)() = thread_ns) {
  double best = INFINITY, total = 0;
  do {
    const double start = now_ns();
    call();
    const double ns = now_ns() - start;
    best = std::min(best, ns);
    total += ns;
  } while (total < at_least_ns);
  return best;
}

// Multiply-adds in registers alone, for as long as what they are compared with: a machine that others share gives more
// to short calls.
class Peak {
 public:
  Peak()
      : kernel_(loops::multiply_adds(DType::kF32, lanes(), kChains, kTrips)),
        code_(codegen::compile(std::span(&kernel_, 1), target())) {}

  double gflops(double call_ns = 1e5) const {
    const int64_t calls = calls_in(call_ns);
    return flops(calls) / best_ns(4e6, [&] { run(calls); });
  }

  // How many times as much `threads` threads do at once, by the clock on the wall.
  double speedup(int threads, double call_ns) const {
    const int64_t calls = calls_in(call_ns);
    const auto all = [&](int count) {
      std::vector<std::jthread> others;
      for (int k = 1; k < count; ++k) others.emplace_back([&] { run(calls); });
      run(calls);
    };
    return threads * best_ns(2e7, [&] { all(1); }, wall_ns) / best_ns(2e7, [&] { all(threads); }, wall_ns);
  }

 private:
  static constexpr int64_t kChains = 12, kTrips = 5000;
  static const loops::Target& target() { return loops::find_target("host"); }
  static int lanes() { return target().lanes(DType::kF32); }

  static double flops(int64_t calls) { return 2.0 * kChains * kTrips * lanes() * static_cast<double>(calls); }
  int64_t calls_in(double ns) const {
    return std::max<int64_t>(1, std::llround(ns / best_ns(0, [&] { run(1); })));
  }
  void run(int64_t calls) const {
    const Buffer x(lanes() * 4), y(kChains * lanes() * 4);
    std::byte* const buffers[] = {x.data(), y.data()};
    for (int64_t k = 0; k < calls; ++k) code_.run(0, buffers, 0);
  }

  loops::Kernel kernel_;
  codegen::Executable code_;
};

}  // namespace ingot::bench
