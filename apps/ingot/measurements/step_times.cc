#include "apps/ingot/measurements/step_times.h"

#include <algorithm>
#include <map>

namespace ingot {
namespace {

struct Watch {
  std::map<uint32_t, StepTime> now;            // the run under way
  std::map<uint32_t, std::vector<double>> ms;  // of all runs
};

void count(void* user, const ingot_trace_event* event) {
  if (event->task_count == 0) return;
  StepTime& time = static_cast<Watch*>(user)->now[event->step];
  time.step = event->step;
  time.kernel = event->kernel;
  time.tasks = event->task_count;
  ++time.rounds;
  time.ms += static_cast<double>(event->end_ns - event->begin_ns) * 1e-6;
}

}  // namespace

std::vector<StepTime> measure_steps(Device& device, uint32_t entry, int runs) {
  Watch watch;
  device.watch(count, &watch);
  for (int i = 0; i < runs; ++i) {
    watch.now.clear();
    device.run(entry);
    for (const auto& [step, time] : watch.now) watch.ms[step].push_back(time.ms);
  }
  device.watch(nullptr, nullptr);
  std::vector<StepTime> times;
  for (auto& [step, time] : watch.now) {
    std::vector<double>& all = watch.ms[step];
    const auto median = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), median, all.end());
    times.push_back(time);
    times.back().ms = *median;
  }
  std::sort(times.begin(), times.end(), [](const StepTime& a, const StepTime& b) { return a.ms > b.ms; });
  return times;
}

}  // namespace ingot
