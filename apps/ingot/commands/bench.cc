// ingot bench: how long a step takes, and what it needs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "aot/base/file.h"
#include "aot/pipeline/initial_state.h"
#include "apps/ingot/command.h"
#include "apps/ingot/device/batches.h"
#include "apps/ingot/device/device.h"
#include "apps/ingot/device/keys.h"
#include "apps/ingot/device/tensor_files.h"
#include "apps/ingot/files/sources.h"
#include "apps/ingot/measurements/roofline_report.h"
#include "apps/ingot/measurements/step_times.h"
#include "apps/ingot/measurements/timeline.h"
#include "apps/ingot/terminal/report.h"
#include "apps/ingot/terminal/row.h"

namespace ingot {
namespace {

constexpr int kFewestRuns = 3, kRuns = 10, kWatchedRuns = 11;
constexpr double kLongSeconds = 5;       // in which the fewest runs are enough
constexpr uint32_t kRooflineSteps = 20;  // that are shown, unless --steps says how many

struct BenchOptions {
  std::string bundle, entry, state, data;
  std::vector<std::string> set, trust;
  uint32_t threads = 1;
  uint32_t steps = 0;
  double seconds = 1.0;
  bool json = false;
  bool cast = false;
  bool roofline = false;
  std::string roofline_svg, trace;
};

double run_ms(Device& device, uint32_t entry) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  device.run(entry);
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// How often a step that takes so long is run, at most `runs` times.
int runs_of(double step_ms, int runs) {
  return std::clamp(static_cast<int>(1e3 * kLongSeconds / step_ms), kFewestRuns, runs);
}

// Milliseconds of runs, ascending, for at least `seconds`; those that warm up are left out.
std::vector<double> measure_ms(Device& device, uint32_t entry, double seconds) {
  double warm_ms = run_ms(device, entry);
  for (int i = 0; i < 2 && warm_ms < 1e3; ++i) warm_ms = std::min(warm_ms, run_ms(device, entry));
  const size_t runs = static_cast<size_t>(runs_of(warm_ms, kRuns));
  std::vector<double> times_ms;
  for (double all_ms = 0; times_ms.size() < runs || all_ms < 1e3 * seconds; all_ms += times_ms.back()) {
    times_ms.push_back(run_ms(device, entry));
  }
  std::sort(times_ms.begin(), times_ms.end());
  return times_ms;
}

// The steps that take longest, and how much of all steps' time each takes.
void print_steps(std::span<const StepTime> times, const BenchOptions& options) {
  double all_ms = 0;
  for (const StepTime& time : times) all_ms += time.ms;
  if (!options.json) fmt::print("\n  step        ms      %  rounds  tasks  kernel\n");
  for (const StepTime& time : times.first(std::min<size_t>(options.steps, times.size()))) {
    const double percent = 100 * time.ms / all_ms;
    if (options.json) {
      fmt::print("{}\n", to_json({{"step", uint64_t{time.step}},
                                  {"kernel", time.kernel},
                                  {"ms", time.ms},
                                  {"percent", percent},
                                  {"rounds", time.rounds},
                                  {"tasks", uint64_t{time.tasks}}}));
    } else {
      fmt::print("{:6} {:9.4f} {:6.1f} {:7} {:6}  {}\n", time.step, time.ms, percent, time.rounds, time.tasks,
                 time.kernel);
    }
  }
}

void show_roofline(Device& device, uint32_t entry, const bundle::BundleSpec& spec, const BenchOptions& options,
                   int runs) {
  const std::string name = device.bundle().info().target;
  const auto target = std::ranges::find(spec.targets, name, &bundle::Target::name);
  const MachinePeaks peaks = measure_peaks(options.threads);
  const std::vector<CallTime> calls =
      call_times(target->plans[entry], *target, measure_steps(device, entry, runs), peaks);
  if (!options.roofline_svg.empty()) {
    const std::string title = fmt::format("{} of {} on {}, {} thread{}: {:.4g} ms", spec.entries[entry].name, spec.name,
                                          name, options.threads, options.threads > 1 ? "s" : "", sum_of(calls).ms);
    write_file(options.roofline_svg, roofline_svg(title, calls, peaks));
  }
  if (options.roofline) print_roofline(calls, peaks, options.steps ? options.steps : kRooflineSteps, options.json);
}

// Whether nothing in the bundle gives its state a value.
bool needs_state(const Device& device, const bundle::BundleSpec& spec) {
  const auto is_unset = [](const bundle::State& state) { return state.start == bundle::Start::kUnset; };
  return !device.has_entry("init") && std::ranges::any_of(spec.states, is_unset);
}

void bench(const BenchOptions& options) {
  for (const std::string& path : {options.roofline_svg, options.trace}) {
    if (!path.empty()) WholeFile{path};  // a bad path is known before the work
  }
  Device device(options.bundle, options.threads, options.trust);
  const uint32_t entry = device.find_entry(options.entry);
  const bundle::BundleSpec spec = load_bundle(options.bundle);
  device.start_state(options.state.empty() && needs_state(device, spec) ? kZeroState : options.state);
  const auto inputs = device.inputs(entry);
  const Device::Bound bound = device.bind(entry);
  const std::vector<InputSource> sources = fill_inputs(device, entry, inputs, options.set, bound, options.cast);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (sources[i] == InputSource::kNone) fill_random(inputs[i], bound.inputs[i]);
  }
  if (!options.data.empty()) Batches({options.data}, inputs, sources, options.cast).fill(0, bound.inputs);

  const std::vector<double> times_ms = measure_ms(device, entry, options.seconds);
  const double median_ms = times_ms[times_ms.size() / 2];
  const uint64_t flops = spec.entries[entry].flops;
  const ingot_entry_info info = device.bundle().entry(entry);
  const ingot_bundle_info all = device.bundle().info();
  const Row figures = {{"entry", std::string(info.name)},
                       {"target", std::string(all.target)},
                       {"threads", uint64_t{options.threads}},
                       {"runs", uint64_t{times_ms.size()}},
                       {"step_ms", median_ms},
                       {"step_ms_p10", times_ms[times_ms.size() / 10]},
                       {"gflops_per_second", static_cast<double>(flops) / median_ms * 1e-6},
                       {"flops", flops},
                       {"steps", uint64_t{info.step_count}},
                       {"arena_bytes", info.arena_bytes},
                       {"lower_bound_bytes", info.lower_bound_bytes},
                       {"scratch_bytes", info.scratch_bytes},
                       {"state_bytes", all.state_bytes},
                       {"code_bytes", all.code_bytes}};
  if (options.json) {
    Row row = {{"report", std::string("bench")}, {"version", int64_t{kReportVersion}}};
    row.insert(row.end(), figures.begin(), figures.end());
    fmt::print("{}\n", to_json(row));
  } else {
    for (const auto& [name, value] : figures) fmt::print("{:18} {}\n", name, to_string(value));
  }
  const int watched_runs = runs_of(median_ms, kWatchedRuns);
  if (options.roofline || !options.roofline_svg.empty()) show_roofline(device, entry, spec, options, watched_runs);
  if (!options.trace.empty()) write_file(options.trace, trace_events(device, entry));
  if (options.steps && !options.roofline) print_steps(measure_steps(device, entry, watched_runs), options);
}

}  // namespace

Command bench_command() {
  auto options = std::make_shared<BenchOptions>();
  BenchOptions& o = *options;
  return {
      .name = "bench",
      .help = "Measure an entry point: median and 10th percentile time, GFLOP/s, memory",
      .examples =
          "  ingot bench step.ingot --state data.safetensors --data data.safetensors --threads 2\n"
          "  ingot bench step.ingot --steps 10\n"
          "  ingot bench step.ingot --roofline --roofline-svg roofline.svg   # where time goes, and what bounds it",
      .options =
          {{"bundle", &o.bundle, "the bundle", {.required = true, .names = Names::kInput}},
           {"entry", &o.entry, "entry point (default: the only one, or train_step)"},
           {"--state", &o.state, "safetensors file with the state (default: the init entry, or else zeros)"},
           {"--data",
            &o.data,
            "safetensors file whose first batch is used (default: random data)",
            {.names = Names::kInput}},
           {"--cast", &o.cast, "convert data of other element types; integers must fit"},
           {"--set", &o.set, "NAME=NUMBER: the value of an input"},
           {"--threads", &o.threads, "1 by default", {.positive = true}},
           {"--seconds", &o.seconds, "how long to measure at least; 1 by default"},
           {"--steps", &o.steps, "also show this many steps, those that take longest first"},
           {"--roofline", &o.roofline,
            "measure the machine, then each kernel beside it: GFLOP/s, GB/s, what bounds it, its source line"},
           {"--roofline-svg", &o.roofline_svg, "picture to write of that", {.names = Names::kOutput, .suffix = ".svg"}},
           {"--trace",
            &o.trace,
            "file to write with one run, step by step, for ui.perfetto.dev or chrome://tracing",
            {.names = Names::kOutput, .suffix = ".json"}},
           {"--json", &o.json, "one JSON object on one line, and one for each step"},
           trust_option(&o.trust)},
      .run = [options] { bench(*options); },
  };
}

}  // namespace ingot
