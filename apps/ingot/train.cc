// ingot train: runs a training entry point over the batches of a file.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "aot/base/error.h"
#include "apps/ingot/command.h"
#include "apps/ingot/device.h"
#include "apps/ingot/progress.h"
#include "apps/ingot/tensor_files.h"

namespace ingot {
namespace {

struct TrainOptions {
  std::string bundle, entry, data, state, log, save;
  std::vector<std::string> set;
  int64_t steps = 0;
  int64_t seed = 0;
  uint32_t threads = 1;
};

nlohmann::json scalars(const std::vector<ingot_tensor_info>& outputs, const std::vector<std::span<std::byte>>& memory) {
  nlohmann::json row;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].rank == 0) row[outputs[i].name] = scalar_value(outputs[i], memory[i]);
  }
  return row;
}

void train(const TrainOptions& options) {
  Device device(options.bundle, options.threads);
  const uint32_t entry = device.find_entry(options.entry);
  device.start_state(options.state, options.seed);

  const auto inputs = device.inputs(entry);
  const auto outputs = device.outputs(entry);
  const Device::Bound bound = device.bind(entry);
  const auto numbers = parse_numbers(options.set, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto number = numbers.find(inputs[i].name);
    if (number != numbers.end()) fill_number(inputs[i], number->second, bound.inputs[i]);
  }
  const Batches batches(options.data, inputs, numbers);
  const int64_t steps = options.steps > 0 ? options.steps : batches.count();

  std::ofstream log;
  if (!options.log.empty()) {
    log.open(options.log);
    if (!log) throw_error(nullptr, fmt::format("{}: cannot be written", options.log));
  }
  const auto start = std::chrono::steady_clock::now();
  nlohmann::json row;
  {
    Progress progress("step", steps);
    for (int64_t step = 0; step < steps; ++step) {
      batches.fill(step, bound.inputs);
      device.run(entry);
      row = scalars(outputs, bound.outputs);
      row["step"] = step;
      if (log.is_open()) log << row.dump() << "\n";
      progress.at(step + 1, row.dump());
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!options.save.empty()) device.save_state(options.save);
  fmt::print("{} steps in {:.2f} s ({:.1f} a second); last: {}\n", steps, seconds, static_cast<double>(steps) / seconds,
             row.dump());
}

}  // namespace

void add_train_command(CLI::App& app) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command = app.add_subcommand("train", "Run a training entry point over the batches of a file");
  command->add_option("bundle", options->bundle, "the bundle")->required();
  command->add_option("--entry", options->entry, "entry point (default: the only one, or train_step)");
  command
      ->add_option("--data", options->data,
                   "safetensors file; its keys match input names, their first dimension is the step")
      ->required();
  command->add_option("--steps", options->steps, "how many (default: as many as the data has; more go round again)");
  command->add_option("--state", options->state, "safetensors file with the first state (default: the init entry)");
  command->add_option("--seed", options->seed, "of the init entry, where no state is given");
  command->add_option("--set", options->set, "NAME=NUMBER: the value of an input at every step, as in lr=0.01");
  command->add_option("--log", options->log, "file for the scalar outputs: one JSON object a line");
  command->add_option("--save", options->save, "safetensors file for the last state");
  command->add_option("--threads", options->threads, "1 by default; the results are the same for any number");
  command->footer(
      "example:\n  ingot train step.ingot --data batches.safetensors --set lr=0.01 --log loss.jsonl --save "
      "final.safetensors");
  command->callback([options] { train(*options); });
}

}  // namespace ingot
