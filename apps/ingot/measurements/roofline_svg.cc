#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/ingot/measurements/roofline.h"
#include "apps/ingot/terminal/chart.h"

namespace ingot {
namespace {

constexpr double kLabelledShare = 0.02;  // of the time: smaller points tell their names only where they are pointed at

double decade_below(double x) { return std::pow(10.0, std::floor(std::log10(x))); }
double decade_above(double x) { return std::pow(10.0, std::ceil(std::log10(x))); }

// A roof: so many bytes a second until the peak is reached.
void add_roof(Chart& chart, const Axis& x, const Axis& y, double peak_gflops, const MemoryLevel& level) {
  const double start = std::max(x.low, y.low / level.gb_per_second);
  const double ridge = std::clamp(peak_gflops / level.gb_per_second, start, x.high);
  chart.add_line({{start, start * level.gb_per_second}, {ridge, std::min(peak_gflops, ridge * level.gb_per_second)}});
  chart.add_words(start * 1.1, start * 1.1 * level.gb_per_second,
                  fmt::format("{}: {:.4g} GB/s", level.name, level.gb_per_second));
}

}  // namespace

std::string roofline_svg(const std::string& title, std::span<const CallTime> calls, const MachinePeaks& peaks) {
  const std::vector<CallSum> sums = sums_by_name(calls);
  const double all_ms = sum_of(calls).ms;
  double low_x = 0.1, high_x = 10, low_y = peaks.f32_gflops / 100, idle_ms = 0;
  for (const CallSum& sum : sums) {
    if (sum.flops == 0 || sum.bytes == 0) {
      idle_ms += sum.ms;
      continue;
    }
    low_x = std::min(low_x, sum.flops / sum.bytes);
    high_x = std::max(high_x, sum.flops / sum.bytes);
    low_y = std::min(low_y, sum.flops / sum.ms * 1e-6);
  }
  const Axis x{"flops a byte", decade_below(low_x), decade_above(high_x), true};
  const Axis y{"GFLOP/s", decade_below(low_y), decade_above(peaks.f32_gflops), true};
  const std::string rest = idle_ms > 0 ? fmt::format("; not shown: {:.4g} ms in kernels that only move", idle_ms) : "";
  Chart chart(title + rest, x, y);
  for (const MemoryLevel& level : peaks.levels) add_roof(chart, x, y, peaks.f32_gflops, level);
  chart.add_level(peaks.f32_gflops, fmt::format("{:.4g} GFLOP/s", peaks.f32_gflops));
  for (const CallSum& sum : sums) {
    if (sum.flops == 0 || sum.bytes == 0) continue;
    const double share = sum.ms / all_ms;
    chart.add({.x = sum.flops / sum.bytes,
               .y = sum.flops / sum.ms * 1e-6,
               .radius = 3 + 30 * std::sqrt(share),
               .label = share >= kLabelledShare ? sum.name.substr(0, 40) : "",
               .title = fmt::format("{}: {:.4g} ms in {} calls, {:.4g} GFLOP/s, {:.4g} GB/s, {:.0f} % of attainable",
                                    sum.name, sum.ms, sum.calls, sum.flops / sum.ms * 1e-6, sum.bytes / sum.ms * 1e-6,
                                    100 * sum.attainable_ms / sum.ms)});
  }
  return chart.svg();
}

}  // namespace ingot
