// What measurements share: clocks, the least of several calls, cores, the machine's peak.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

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

// From here on this thread, and those that it starts, run on the cores `first` .. `first` + `count` of those that the
// process was given; on all of them where it has fewer, and on systems that have no such request.
inline void keep_to_cores(int first, int count) {
#ifdef __linux__
  static const cpu_set_t all = [] {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    return cores;
  }();
  if (count == 0 || CPU_COUNT(&all) < first + count) return;
  cpu_set_t some;
  CPU_ZERO(&some);
  for (int core = 0, k = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &all)) continue;
    if (k >= first && k < first + count) CPU_SET(core, &some);
    ++k;
  }
  sched_setaffinity(0, sizeof some, &some);
#endif
}

// Threads that do the same work at once: the caller on the first core, the others on the next ones.
class Gang {
 public:
  explicit Gang(int threads) : threads_(threads) {
    keep_to_cores(1, threads - 1);
    for (int k = 1; k < threads; ++k) helpers_.emplace_back([this] { help(); });
    keep_to_cores(0, 1);
  }
  ~Gang() { begin(0, nullptr); }
  Gang(const Gang&) = delete;
  Gang& operator=(const Gang&) = delete;

  // The least time of `calls` calls, each from when all begin until all have ended.
  double best_ns(int calls, const std::function<void()>& work) {
    begin(calls, &work);
    double best = INFINITY;
    for (int k = 0; k < calls; ++k) {
      meet();
      const double start_ns = wall_ns();
      work();
      meet();
      best = std::min(best, wall_ns() - start_ns);
    }
    return best;
  }

 private:
  // The helpers sleep between the measurements: their cores are free for what these are compared with.
  void begin(int calls, const std::function<void()>* work) {
    calls_ = calls;
    work_ = work;
    ++round_;
    round_.notify_all();
  }

  void help() {
    for (int round = 0;; ++round) {
      round_.wait(round);
      const int calls = calls_;
      const std::function<void()>* const work = work_;
      if (!work) return;
      for (int k = 0; k < calls; ++k) {
        meet();
        (*work)();
        meet();
      }
    }
  }

  void meet() {
    const int meeting = met_.load();
    if (arrived_.fetch_add(1) + 1 == threads_) {
      arrived_ = 0;
      ++met_;
    }
    while (met_ == meeting) {
    }
  }

  int threads_;
  int calls_ = 0;
  const std::function<void()>* work_ = nullptr;
  std::atomic<int> round_{0}, arrived_{0}, met_{0};
  std::vector<std::jthread> helpers_;
};

// Multiply-adds in registers alone, for as long as what they are compared with: a machine that others share gives more
// to short calls.
class Peak {
 public:
  explicit Peak(const loops::Target& target = loops::find_target("host"))
      : lanes_(target.lanes(DType::kF32)),
        kernel_(loops::multiply_adds(DType::kF32, lanes_, kChains, kTrips)),
        code_(codegen::compile(std::span(&kernel_, 1), target)) {}

  double gflops(double call_ns = 1e5) const {
    const int64_t calls = calls_in(call_ns);
    return flops(calls) / best_ns(4e6, [&] { run(calls); });
  }

  // Calls that together take about `call_ns`.
  std::function<void()> calls(double call_ns) const {
    return [this, count = calls_in(call_ns)] { run(count); };
  }

 private:
  static constexpr int64_t kChains = 12, kTrips = 5000;

  double flops(int64_t calls) const { return 2.0 * kChains * kTrips * lanes_ * static_cast<double>(calls); }
  int64_t calls_in(double ns) const {
    return std::max<int64_t>(1, std::llround(ns / best_ns(0, [&] { run(1); })));
  }
  void run(int64_t calls) const {
    const Buffer x(lanes_ * 4), y(kChains * lanes_ * 4);
    std::byte* const buffers[] = {x.data(), y.data()};
    for (int64_t k = 0; k < calls; ++k) code_.run(0, buffers, 0);
  }

  int lanes_;
  loops::Kernel kernel_;
  codegen::Executable code_;
};

}  // namespace ingot::bench
