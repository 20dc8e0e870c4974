#include "aot/lazy/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ingot::lazy {
namespace {

constexpr size_t kKeptSamples = 1024;

// "04m22s555ms668.071us", from the largest unit that there is.
std::string duration(double microseconds) {
  struct Unit {
    const char* name;
    double microseconds;
    int digits;
  };
  std::string text;
  for (const Unit& unit : {Unit{"h", 3600e6, 2}, Unit{"m", 60e6, 2}, Unit{"s", 1e6, 2}, Unit{"ms", 1e3, 3}}) {
    const double whole = std::floor(microseconds / unit.microseconds);
    microseconds -= whole * unit.microseconds;
    if (!text.empty() || whole > 0) text += fmt::format("{:0{}.0f}{}", whole, unit.digits, unit.name);
  }
  return text + fmt::format("{:07.3f}us", microseconds);
}

}  // namespace

void Metrics::add(const std::string& name, Time begin, Time end) {
  Metric& metric = metrics_[name];
  ++metric.samples;
  metric.total += end - begin;
  metric.last.push_back({end, end - begin});
  if (metric.last.size() > kKeptSamples) metric.last.pop_front();
}

int64_t Metrics::samples(const std::string& name) const {
  const auto found = metrics_.find(name);
  return found == metrics_.end() ? 0 : found->second.samples;
}

int64_t Metrics::counter(const std::string& name) const {
  const auto found = counters_.find(name);
  return found == counters_.end() ? 0 : found->second;
}

std::string Metrics::lines(const std::string& name, const Metric& metric) {
  std::vector<double> values;
  double sum = 0;
  for (const Sample& sample : metric.last) {
    values.push_back(sample.taken.count());
    sum += values.back();
  }
  std::sort(values.begin(), values.end());
  const Microseconds between = metric.last.back().end - metric.last.front().end;
  const double seconds = std::max(between.count() / 1e6, 1e-6);
  std::string percentiles;
  for (const size_t share : {1, 5, 10, 20, 50, 80, 90, 95, 99}) {
    percentiles +=
        fmt::format("{}{}%={}", percentiles.empty() ? "" : "; ", share, duration(values[share * values.size() / 100]));
  }
  return fmt::format(
      "Metric: {}\n  TotalSamples: {}\n  Accumulator: {}\n  ValueRate: {} / second\n  Rate: {:g} / second\n"
      "  Percentiles: {}\n",
      name, metric.samples, duration(metric.total.count()), duration(sum / seconds),
      static_cast<double>(values.size()) / seconds, percentiles);
}

std::string Metrics::report() const {
  std::string text;
  for (const auto& [name, metric] : metrics_) text += lines(name, metric);
  for (const auto& [name, count] : counters_) text += fmt::format("Counter: {}\n  Value: {}\n", name, count);
  return text;
}

}  // namespace ingot::lazy
