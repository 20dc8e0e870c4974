#include "apps/ingot/measurements/roofline.h"

#include <algorithm>
#include <functional>
#include <map>
#include <ranges>

#include "schema/kernel_abi.h"

namespace ingot {
namespace {

// A stretch of memory that a step touches.
struct Touch {
  uint32_t base;
  uint64_t first, end;
  bool is_written;

  uint64_t bytes() const { return end - first; }
  bool meets(const Touch& other) const { return base == other.base && first < other.end && other.first < end; }
};

std::vector<Touch> touches_of(const bundle::Step& step, const bundle::Target& target) {
  std::vector<Touch> touches;
  if (step.kind != bundle::StepKind::kKernel) return touches;
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const uint64_t first = step.operands[i].offset_bytes;
    const bundle::Parameter& parameter = target.kernels[step.kernel].parameters[i];
    touches.push_back({step.operands[i].base, first, first + parameter.reach_bytes, parameter.writes});
  }
  return touches;
}

uint64_t bytes_of(const std::vector<Touch>& touches) {
  uint64_t bytes = 0;
  for (const Touch& touch : touches) bytes += touch.bytes();
  return bytes;
}

// Where in memory the steps of a plan find what they touch.
class MemoryModel {
 public:
  MemoryModel(const bundle::Plan& plan, const bundle::Target& target, const MachinePeaks& peaks) : peaks_(peaks) {
    for (const bundle::Step& step : plan.steps) touches_.push_back(touches_of(step, target));
    if (peaks.levels.size() > 1) cache_bytes_ = peaks.levels[peaks.levels.size() - 2].bytes;
  }

  // Adds, by level, what a step touches; gives its bytes.
  uint64_t add(uint32_t step, std::vector<Moved>& levels) const {
    for (const Touch& touch : touches_[step]) {
      Moved& moved = levels[level_of(step, touch)];
      (touch.is_written ? moved.written_bytes : moved.read_bytes) += static_cast<double>(touch.bytes());
    }
    return bytes_of(touches_[step]);
  }

 private:
  // What is touched since `touch` was touched last decides.
  size_t level_of(uint32_t step, const Touch& touch) const {
    uint64_t bytes = bytes_of(touches_[step]);
    const size_t steps = touches_.size();
    for (size_t back = 1; back < steps && bytes <= cache_bytes_; ++back) {
      const std::vector<Touch>& earlier = touches_[(step + steps - back) % steps];
      if (std::ranges::any_of(earlier, [&](const Touch& other) { return other.meets(touch); })) break;
      bytes += bytes_of(earlier);
    }
    return level_that_holds(bytes, peaks_);
  }

  const MachinePeaks& peaks_;
  std::vector<std::vector<Touch>> touches_;  // by step
  uint64_t cache_bytes_ = 0;                 // of the last cache: farther than that is all the same
};

// What a step is a part of: what the bundle tells, or where it tells nothing the step's kernel by itself.
bundle::Call call_of(const bundle::Step& step, const bundle::Plan& plan, const bundle::Target& target) {
  if (step.call) return plan.calls[*step.call];
  bundle::Call call;
  const bundle::Kernel& kernel = target.kernels[step.kernel];
  call.name = kernel.name;
  for (const bundle::Parameter& parameter : kernel.parameters) {
    (parameter.writes ? call.written_bytes : call.read_bytes) += parameter.reach_bytes;
  }
  return call;
}

// As often as the kernel of it that has fewest steps: a run may call one twice.
uint64_t times_of(const CallTime& call, const bundle::Plan& plan) {
  std::map<uint32_t, uint64_t> steps;
  for (const uint32_t step : call.steps) ++steps[plan.steps.at(step).kernel];
  return std::ranges::min(std::views::values(steps));
}

void set_bound(CallTime& call, const MemoryModel& memory, const MachinePeaks& peaks) {
  Work work{.flops = call.flops(),
            .dtype = call.call.dtype,
            .levels = std::vector<Moved>(peaks.levels.size()),
            .steps = static_cast<double>(call.steps.size() * call.rounds)};
  uint64_t touched = 0;
  for (const uint32_t step : call.steps) touched += memory.add(step, work.levels);
  // Of some operands only a part is read or written.
  const double part = touched ? std::min(1.0, call.bytes() / static_cast<double>(touched * call.rounds)) : 0;
  for (Moved& moved : work.levels) {
    moved.read_bytes *= part * static_cast<double>(call.rounds);
    moved.written_bytes *= part * static_cast<double>(call.rounds);
  }
  const Roof roof = roof_of(work, peaks);
  call.attainable_ms = roof.ms;
  call.bound = roof.bound;
}

std::vector<CallSum> sums_by(std::span<const CallTime> calls,
                             const std::function<std::string(const CallTime&)>& key_of) {
  std::map<std::string, std::vector<CallTime>> groups;
  for (const CallTime& call : calls) groups[key_of(call)].push_back(call);
  std::vector<CallSum> sums;
  for (const auto& [key, group] : groups) {
    sums.push_back(sum_of(group));
    sums.back().name = key;
  }
  std::ranges::stable_sort(sums, std::greater<>(), &CallSum::ms);
  return sums;
}

// Reading and writing share the way: a written byte adds what half and half take beyond reading, and by itself no less
// than where all are written.
double moving_ms(const Moved& moved, const MemoryLevel& level) {
  const double read_ns = 1 / level.read_gb_per_second, write_ns = 1 / level.write_gb_per_second;
  const double beside_ns = std::max(0.0, 2 / level.gb_per_second - read_ns);
  return 1e-6 * std::max(moved.read_bytes * read_ns + moved.written_bytes * beside_ns, moved.written_bytes * write_ns);
}

}  // namespace

Roof roof_of(const Work& work, const MachinePeaks& peaks) {
  double memory_ms = 0, slowest_ms = 0;
  std::string slowest;
  for (size_t i = 0; i < work.levels.size(); ++i) {
    const MemoryLevel& level = peaks.levels[i];
    const double ms = moving_ms(work.levels[i], level);
    memory_ms += ms;
    if (i == 0 || ms > slowest_ms) slowest = level.name;
    slowest_ms = std::max(slowest_ms, ms);
  }
  const double compute_ms = work.flops / (work.dtype == INGOT_F64 ? peaks.f64_gflops : peaks.f32_gflops) * 1e-6;
  const double overhead_ms = work.steps * peaks.step_ns * 1e-6;
  const double ms = std::max({compute_ms, memory_ms, overhead_ms});
  return {ms, ms == overhead_ms ? "overhead" : ms == compute_ms ? "compute" : slowest};
}

size_t level_that_holds(uint64_t bytes, const MachinePeaks& peaks) {
  size_t level = 0;
  while (level + 1 < peaks.levels.size() && bytes > peaks.levels[level].bytes) ++level;
  return level;
}

std::vector<CallTime> call_times(const bundle::Plan& plan, const bundle::Target& target,
                                 std::span<const StepTime> times, const MachinePeaks& peaks) {
  std::map<std::pair<bool, uint32_t>, CallTime> by_call;  // steps of no call stand for themselves
  for (const StepTime& time : times) {
    const bundle::Step& step = plan.steps.at(time.step);
    CallTime& call = by_call[{step.call.has_value(), step.call.value_or(time.step)}];
    if (call.steps.empty()) call.call = call_of(step, plan, target);
    call.steps.push_back(time.step);
    call.rounds = std::max(call.rounds, time.rounds);
    call.tasks = std::max(call.tasks, time.tasks);
    call.ms += time.ms;
  }
  const MemoryModel memory(plan, target, peaks);
  std::vector<CallTime> calls;
  for (auto& [key, call] : by_call) {
    std::ranges::sort(call.steps);
    call.times = times_of(call, plan);
    set_bound(call, memory, peaks);
    calls.push_back(std::move(call));
  }
  std::ranges::stable_sort(calls, std::greater<>(), &CallTime::ms);
  return calls;
}

CallSum sum_of(std::span<const CallTime> calls) {
  CallSum sum;
  for (const CallTime& call : calls) {
    ++sum.calls;
    sum.ms += call.ms;
    sum.attainable_ms += call.attainable_ms;
    sum.flops += call.flops();
    sum.bytes += call.bytes();
  }
  return sum;
}

std::vector<CallSum> sums_by_name(std::span<const CallTime> calls) {
  return sums_by(calls, [](const CallTime& call) { return call.call.name; });
}

std::vector<CallSum> sums_by_bound(std::span<const CallTime> calls) {
  return sums_by(calls, [](const CallTime& call) { return call.bound; });
}

}  // namespace ingot
