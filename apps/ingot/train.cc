// ingot train: runs a training entry point over the batches of a file.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <fstream>

#include "aot/base/error.h"
#include "aot/base/file.h"
#include "apps/ingot/chart.h"
#include "apps/ingot/command.h"
#include "apps/ingot/device.h"
#include "apps/ingot/progress.h"
#include "apps/ingot/row.h"
#include "apps/ingot/tensor_files.h"

namespace ingot {
namespace {

struct TrainOptions {
  std::string bundle, entry, data, state, log, save, plot;
  std::vector<std::string> set;
  int64_t steps = 0;
  int64_t seed = 0;
  uint32_t threads = 1;
  bool keep_going = false;
};

// What a step gave: its scalar outputs.
Row scalars(const std::vector<ingot_tensor_info>& outputs, const std::vector<std::span<std::byte>>& memory) {
  Row row;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].rank == 0) row.emplace_back(outputs[i].name, scalar_value(outputs[i], memory[i]));
  }
  return row;
}

// "loss 0.43, accuracy 0.9"
std::string summary(const Row& row) {
  std::string text;
  for (const auto& [name, value] : row)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, to_string(value));
  return text;
}

// The scalar output that is trained for: the one called loss, or else the first; null where there is none.
const std::pair<std::string, Field>* loss_of(const Row& row) {
  const auto is_loss = [](const auto& column) { return column.first.ends_with("loss"); };
  const auto found = std::ranges::find_if(row, is_loss);
  if (found != row.end()) return &*found;
  return row.empty() ? nullptr : &row.front();
}

bool has_bad_loss(const Row& row) {
  const auto* loss = loss_of(row);
  return loss && !std::isfinite(std::get<double>(loss->second));
}

// Says what went wrong in a step. Only the state before it is worth keeping.
[[noreturn]] void stop_at_bad_loss(const TrainOptions& options, Device& device, int64_t step, const Row& row) {
  std::string kept = "nothing is saved";
  if (!options.save.empty()) {
    device.restore_state();
    device.save_state(options.save);
    kept = fmt::format("the state before it is in {}", options.save);
  }
  throw_error(nullptr, fmt::format("step {} gave {}; {}; --keep-going goes on all the same", step, summary(row), kept));
}

// The loss over the steps; of long runs, means of equal stretches.
class Curve {
 public:
  explicit Curve(const Row& row) {
    if (const auto* loss = loss_of(row)) name_ = loss->first;
  }

  void add(const Row& row) {
    if (const auto* loss = loss_of(row)) values_.push_back(std::get<double>(loss->second));
  }

  std::string svg(const std::string& title) const {
    constexpr size_t kMostPoints = 1000;
    const size_t stretch = values_.size() / kMostPoints + 1;
    std::vector<std::pair<double, double>> points;
    double low = INFINITY, high = -INFINITY;
    for (size_t at = 0; at < values_.size(); at += stretch) {
      const size_t end = std::min(at + stretch, values_.size());
      double mean = 0;
      for (size_t i = at; i < end; ++i) mean += values_[i] / static_cast<double>(end - at);
      points.emplace_back(static_cast<double>(at + end - 1) / 2, mean);
      if (!std::isfinite(mean)) continue;
      low = std::min(low, mean);
      high = std::max(high, mean);
    }
    if (low > high) low = high = 0;
    Chart chart(title, {"step", 0, static_cast<double>(values_.size()) - 1}, {name_, std::min(low, 0.0), high});
    chart.add_line(points);
    return chart.svg();
  }

 private:
  std::string name_;
  std::vector<double> values_;
};

void train(const TrainOptions& options) {
  Device device(options.bundle, options.threads);
  const uint32_t entry = device.find_entry(options.entry);
  device.start_state(options.state, options.seed);

  const auto inputs = device.inputs(entry);
  const auto outputs = device.outputs(entry);
  const Device::Bound bound = device.bind(entry);
  const std::vector<InputSource> sources = fill_inputs(device, entry, options.set, bound);
  const Batches batches(options.data, inputs, sources);
  const int64_t steps = options.steps > 0 ? options.steps : batches.count();

  for (const std::string& path : {options.save, options.plot, options.log}) {
    if (!path.empty()) WholeFile writable(path);  // a bad path is known before the work
  }
  std::ofstream log;
  if (!options.log.empty()) log.open(options.log);
  const auto start = std::chrono::steady_clock::now();
  Row row = scalars(outputs, bound.outputs);
  Curve curve(row);
  {
    Progress progress("step", steps);
    for (int64_t step = 0; step < steps; ++step) {
      batches.fill(step, bound.inputs);
      if (!options.keep_going && !options.save.empty()) device.keep_state();
      device.run(entry);
      row = scalars(outputs, bound.outputs);
      curve.add(row);
      if (progress.is_shown()) progress.at(step + 1, summary(row));
      if (log.is_open()) {
        Row logged = row;
        logged.emplace_back("step", step);
        log << to_json(logged) << std::endl;  // flushed: whoever follows the log sees each step
      }
      if (!options.keep_going && has_bad_loss(row)) stop_at_bad_loss(options, device, step, row);
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (log.is_open() && !log.flush()) throw_error(nullptr, fmt::format("{}: cannot be written to its end", options.log));
  if (!options.save.empty()) device.save_state(options.save);
  if (!options.plot.empty()) {
    write_file(options.plot, curve.svg(fmt::format("{} of {}", device.bundle().entry(entry).name, options.bundle)));
  }
  fmt::print("{} steps in {:.2f} s ({:.1f} a second); last: {}\n", steps, seconds, static_cast<double>(steps) / seconds,
             summary(row));
}

}  // namespace

Command train_command() {
  auto options = std::make_shared<TrainOptions>();
  TrainOptions& o = *options;
  return {
      .name = "train",
      .help = "Run a training entry point over the batches of a file",
      .examples =
          "  ingot train step.ingot --data batches.safetensors --set lr=0.01 --log loss.jsonl --save "
          "final.safetensors",
      .options = {{"bundle", &o.bundle, "the bundle", {.required = true}},
                  {"--entry", &o.entry, "entry point (default: the only one, or train_step)"},
                  {"--data",
                   &o.data,
                   "safetensors file; its keys match input names, their first dimension is the step",
                   {.required = true}},
                  {"--steps", &o.steps, "how many; 0: as many as the data has. More go round again"},
                  {"--state", &o.state, "safetensors file with the first state, or zeros (default: the init entry)"},
                  {"--seed", &o.seed, "of the init entry, where no state is given"},
                  {"--set", &o.set, "NAME=NUMBER: the value of an input at every step, as in lr=0.01"},
                  {"--log", &o.log, "file for the scalar outputs: one JSON object a line"},
                  {"--plot", &o.plot, "picture to write of the loss over the steps (.svg)"},
                  {"--keep-going", &o.keep_going, "go on although the loss is infinite or not a number"},
                  {"--save", &o.save, "safetensors file for the last state"},
                  {"--threads", &o.threads, "1 by default; the results are the same for any number"}},
      .run = [options] { train(*options); },
  };
}

}  // namespace ingot
