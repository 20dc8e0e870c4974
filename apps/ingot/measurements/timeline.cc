#include "apps/ingot/measurements/timeline.h"

#include "apps/ingot/terminal/report.h"

namespace ingot {
namespace {

struct Timeline {
  Json events = Json::array();
  uint64_t begin_ns = 0;
};

void add(void* user, const ingot_trace_event* event) {
  auto& timeline = *static_cast<Timeline*>(user);
  if (timeline.events.empty()) timeline.begin_ns = event->begin_ns;
  const auto microseconds = [](uint64_t ns) { return static_cast<double>(ns) * 1e-3; };
  timeline.events.push_back({{"name", event->kernel},
                             {"ph", "X"},  // a whole event: where it begins, and how long it takes
                             {"ts", microseconds(event->begin_ns - timeline.begin_ns)},
                             {"dur", microseconds(event->end_ns - event->begin_ns)},
                             {"pid", 1},
                             {"tid", 1},
                             {"args", {{"step", event->step}, {"tasks", event->task_count}}}});
}

}  // namespace

std::string trace_events(Device& device, uint32_t entry) {
  Timeline timeline;
  device.watch(add, &timeline);
  device.run(entry);
  device.watch(nullptr, nullptr);
  return Json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(timeline.events)}}.dump() + "\n";
}

}  // namespace ingot
