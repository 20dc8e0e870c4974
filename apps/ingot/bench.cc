// ingot bench: how long a step takes, and what it needs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "apps/ingot/command.h"
#include "apps/ingot/device.h"
#include "apps/ingot/tensor_files.h"

namespace ingot {
namespace {

struct BenchOptions {
  std::string bundle, entry, state, data;
  std::vector<std::string> set;
  uint32_t threads = 1;
  double seconds = 1.0;
  bool json = false;
};

void bench(const BenchOptions& options) {
  using Clock = std::chrono::steady_clock;
  Device device(options.bundle, options.threads);
  const uint32_t entry = device.find_entry(options.entry);
  device.start_state(options.state);
  const auto inputs = device.inputs(entry);
  const Device::Bound bound = device.bind(entry);
  const auto numbers = parse_numbers(options.set, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto number = numbers.find(inputs[i].name);
    if (number != numbers.end()) {
      fill_number(inputs[i], number->second, bound.inputs[i]);
    } else {
      fill_random(inputs[i], bound.inputs[i]);
    }
  }
  if (!options.data.empty()) Batches(options.data, inputs, numbers).fill(0, bound.inputs);
  for (int i = 0; i < 3; ++i) device.run(entry);
  std::vector<double> times_ms;
  const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
  while (times_ms.size() < 10 || Clock::now() < end) {
    const auto start = Clock::now();
    device.run(entry);
    times_ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(times_ms.begin(), times_ms.end());

  const ingot_entry_info entry_info = device.bundle().entry(entry);
  const nlohmann::json report = {{"entry", entry_info.name},
                                 {"target", device.bundle().info().target},
                                 {"threads", options.threads},
                                 {"runs", times_ms.size()},
                                 {"step_ms", times_ms[times_ms.size() / 2]},
                                 {"step_ms_p10", times_ms[times_ms.size() / 10]},
                                 {"steps", entry_info.step_count},
                                 {"arena_bytes", entry_info.arena_bytes},
                                 {"lower_bound_bytes", entry_info.lower_bound_bytes},
                                 {"scratch_bytes", entry_info.scratch_bytes},
                                 {"state_bytes", device.bundle().info().state_bytes},
                                 {"code_bytes", device.bundle().info().code_bytes}};
  if (options.json) {
    fmt::print("{}\n", report.dump());
    return;
  }
  for (const auto& [key, value] : report.items()) fmt::print("{:18} {}\n", key, value.dump());
}

}  // namespace

void add_bench_command(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "Measure an entry point: median and 10th percentile time, memory");
  command->add_option("bundle", options->bundle, "the bundle")->required();
  command->add_option("entry", options->entry, "entry point (default: the only one, or train_step)");
  command->add_option("--state", options->state, "safetensors file with the state");
  command->add_option("--data", options->data, "safetensors file whose first batch is used (default: random data)");
  command->add_option("--set", options->set, "NAME=NUMBER: the value of an input");
  command->add_option("--threads", options->threads, "1 by default");
  command->add_option("--seconds", options->seconds, "how long to measure at least");
  command->add_flag("--json", options->json, "one JSON object on one line");
  command->footer("example:\n  ingot bench step.ingot --state data.safetensors --data data.safetensors --threads 2");
  command->callback([options] { bench(*options); });
}

}  // namespace ingot
