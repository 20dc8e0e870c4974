// What a device did: how often, and how long it took. Names and the report's format are PyTorch/XLA's.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace ingot::lazy {

class Metrics {
 public:
  static constexpr const char* kCompile = "CompileTime";
  static constexpr const char* kExecute = "ExecuteTime";
  static constexpr const char* kCached = "CachedCompile";
  static constexpr const char* kUncached = "UncachedCompile";

  // Calls `work` and adds the time that it takes to a metric.
  template <typename F>
  auto timed(const std::string& name, const F& work) {
    const auto begin = std::chrono::steady_clock::now();
    auto result = work();
    add(name, begin, std::chrono::steady_clock::now());
    return result;
  }
  void count(const std::string& name) { ++counters_[name]; }

  int64_t samples(const std::string& name) const;
  int64_t counter(const std::string& name) const;
  std::string report() const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  using Microseconds = std::chrono::duration<double, std::micro>;
  struct Sample {
    Time end;
    Microseconds taken;
  };
  struct Metric {
    int64_t samples = 0;
    Microseconds total{0};
    std::deque<Sample> last;
  };

  void add(const std::string& name, Time begin, Time end);
  static std::string lines(const std::string& name, const Metric& metric);

  std::map<std::string, Metric> metrics_;
  std::map<std::string, int64_t> counters_;
};

}  // namespace ingot::lazy
