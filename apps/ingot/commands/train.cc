// ingot train: runs a training entry point over the batches of a file.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "aot/base/error.h"
#include "aot/base/file.h"
#include "apps/ingot/command.h"
#include "apps/ingot/device/batches.h"
#include "apps/ingot/device/checkpoint.h"
#include "apps/ingot/device/device.h"
#include "apps/ingot/device/keys.h"
#include "apps/ingot/device/past_state.h"
#include "apps/ingot/device/tensor_files.h"
#include "apps/ingot/measurements/loss_curve.h"
#include "apps/ingot/terminal/interrupts.h"
#include "apps/ingot/terminal/progress.h"
#include "apps/ingot/terminal/report.h"
#include "apps/ingot/terminal/row.h"

namespace ingot {
namespace {

struct TrainOptions {
  std::string bundle, entry, state, log, save, save_every, plot;
  std::vector<std::string> data, set, trust;
  int64_t steps = 0;
  int64_t seed = 0;
  uint32_t threads = 1;
  bool resume = false;
  bool keep_going = false;
  bool cast = false;
  bool json = false;
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

// One JSON object a line, for whoever follows it: each line is there at once. "-" is standard output.
class Log {
 public:
  // Lines of the steps before `first_step`, which an earlier part of the training wrote, stay.
  Log(const std::string& path, int64_t first_step) : path_(path) {
    if (path.empty() || path == "-") return;
    const std::string before = first_step > 0 ? lines_before(first_step) : "";
    write_file(path, before);
    file_.open(path, std::ios::app);
  }

  void add(Row row, int64_t step) {
    if (path_.empty()) return;
    row.emplace_back("step", step);
    std::ostream& out = path_ == "-" ? std::cout : file_;
    out << to_json(row) << std::endl;
    if (!out) throw_error(nullptr, fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
  }

 private:
  std::string lines_before(int64_t step) const {
    std::ifstream in(path_);
    std::string kept;
    for (std::string line; std::getline(in, line);) {
      const auto row = nlohmann::json::parse(line, nullptr, false);
      const bool has_step = row.is_object() && row.contains("step") && row["step"].is_number_unsigned();
      if (has_step && row["step"].get<uint64_t>() < static_cast<uint64_t>(step)) kept += line + "\n";
    }
    return kept;
  }

  std::string path_;
  std::ofstream file_;
};

class Training {
 public:
  explicit Training(const TrainOptions& options)
      : options_(options),
        device_(options.bundle, options.threads, options.trust),
        entry_(device_.find_entry(options.entry)),
        inputs_(device_.inputs(entry_)),
        outputs_(device_.outputs(entry_)),
        bound_(device_.bind(entry_)),
        batches_(options.data, inputs_, fill_inputs(device_, entry_, inputs_, options.set, bound_), options.cast),
        checkpoint_(device_, entry_, batches_.count(), options.save),
        past_(device_),
        period_(options.save_every),
        steps_(options.steps > 0 ? options.steps : batches_.count()) {
    warn_of_unread();
    if (options.steps < 0) throw_error(nullptr, fmt::format("--steps {}: is less than nothing", options.steps));
    if (options.save.empty() && (options.resume || !options.save_every.empty())) {
      throw_error(nullptr, "say by --save which file to save in and to go on from");
    }
    for (const std::string& path : {options.plot, options.log}) {
      if (!path.empty() && path != "-") WholeFile writable(path);  // a bad path is known before the work
    }
  }

  void run() {
    if (options_.resume && checkpoint_.is_there()) {
      first_ = checkpoint_.resume();
      if (!options_.json) fmt::print("going on after step {} of {}\n", first_, steps_);
    } else {
      device_.start_state(options_.state, options_.seed);
    }
    const auto start = std::chrono::steady_clock::now();
    row_ = scalars(outputs_, bound_.outputs);
    LossCurve curve(row_, first_);
    take_steps(curve);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    checkpoint_.save(std::max(first_, steps_));
    if (!options_.plot.empty()) {
      write_file(options_.plot,
                 curve.svg(fmt::format("{} of {}", device_.bundle().entry(entry_).name, options_.bundle)));
    }
    tell(std::max<int64_t>(steps_ - first_, 0), seconds);
  }

 private:
  void warn_of_unread() const {
    std::vector<ingot_tensor_info> inputs;
    for (uint32_t entry = 0; entry < device_.bundle().info().entry_count; ++entry) {
      for (const ingot_tensor_info& input : device_.inputs(entry)) inputs.push_back(input);
    }
    const std::vector<std::string> names = batches_.of_none(inputs);
    if (names.empty()) return;
    fmt::print(stderr, "warning: the data has '{}', which is no input of {} and not read\n", fmt::join(names, "', '"),
               options_.bundle);
  }

  void take_step(int64_t step) {
    batches_.fill(step, bound_.inputs);
    device_.run(entry_);
  }

  void tell(int64_t taken, double seconds) const {
    const double rate = static_cast<double>(taken) / seconds;
    if (!options_.json) {
      fmt::print("{} step{} in {:.2f} s ({:.1f} a second); last: {}\n", taken, taken == 1 ? "" : "s", seconds, rate,
                 taken > 0 ? summary(row_) : "nothing was left to do");
      return;
    }
    Json object = report("train");
    object.update({{"steps", taken}, {"seconds", seconds}, {"steps_per_second", rate}});
    object["last"] = Json::parse(to_json(row_));
    if (!options_.save.empty()) object["state"] = options_.save;
    print(object);
  }

  void take_steps(LossCurve& curve) {
    Log log(options_.log, first_);
    const Interrupts interrupts;
    Progress progress("step", steps_);
    for (int64_t step = first_; step < steps_; ++step) {
      if (!options_.keep_going && !options_.save.empty()) past_.before(step);
      take_step(step);
      row_ = scalars(outputs_, bound_.outputs);
      curve.add(row_);
      log.add(row_, step);
      if (progress.is_shown()) progress.at(step + 1, summary(row_));
      const double* loss = loss_of(row_);
      if (loss && !std::isfinite(*loss) && !options_.keep_going) stop_at_bad_loss(step);
      if (period_.is_due(step + 1)) checkpoint_.save(step + 1);
      if (interrupts.signal() != 0 && step + 1 < steps_) stop_at_signal(interrupts.signal(), step + 1);
    }
  }

  // Only the state before the step is worth keeping.
  [[noreturn]] void stop_at_bad_loss(int64_t step) {
    std::string kept = "nothing is saved";
    if (!options_.save.empty()) {
      past_.go_back_to(step, [&](int64_t again) { take_step(again); });
      checkpoint_.save(step);
      kept = fmt::format("the state before it is in {}", options_.save);
    }
    throw_error(nullptr,
                fmt::format("step {} gave {}; {}; --keep-going goes on all the same", step, summary(row_), kept));
  }

  [[noreturn]] void stop_at_signal(int signal, int64_t step) {
    checkpoint_.save(step);
    const std::string kept =
        options_.save.empty()
            ? "nothing is saved"
            : fmt::format("the state is in {}; the same command with --resume goes on", options_.save);
    throw Stopped{signal, fmt::format("stopped by {} after step {} of {}; {}", signal == SIGINT ? "SIGINT" : "SIGTERM",
                                      step, steps_, kept)};
  }

  const TrainOptions& options_;
  Device device_;
  const uint32_t entry_;
  const std::vector<ingot_tensor_info> inputs_, outputs_;
  const Device::Bound bound_;
  const Batches batches_;
  Checkpoint checkpoint_;
  PastState past_;
  SavePeriod period_;
  const int64_t steps_;  // in all
  int64_t first_ = 0;    // those of them that were taken before
  Row row_;              // of the last step
};

}  // namespace

Command train_command() {
  auto options = std::make_shared<TrainOptions>();
  TrainOptions& o = *options;
  return {
      .name = "train",
      .help = "Run a training entry point over the batches of a file",
      .examples =
          "  ingot train step.ingot --data batches.safetensors --set lr=0.01 --log loss.jsonl --save last.safetensors\n"
          "  ingot train step.ingot --data batches.safetensors --steps 1000 --save last.safetensors --save-every 60s "
          "--resume",
      .options =
          {{"bundle", &o.bundle, "the bundle", {.required = true, .names = Names::kInput}},
           {"--entry", &o.entry, "entry point (default: the only one, or train_step)"},
           {"--data",
            &o.data,
            "safetensors files, one after the other; their keys match input names, the first dimension is the step",
            {.required = true, .commas = true, .names = Names::kInput}},
           {"--cast", &o.cast, "convert data of other element types; integers must fit"},
           {"--steps", &o.steps,
            "how many in all, with those before --resume; 0: as many as the data has. More go round again"},
           {"--state", &o.state, "safetensors file with the first state, or zeros (default: the init entry)"},
           {"--seed", &o.seed, "of the init entry, where no state is given"},
           {"--set", &o.set, "NAME=NUMBER: the value of an input at every step, as in lr=0.01"},
           {"--log",
            &o.log,
            "file for the scalar outputs: one JSON object a line; - for standard output",
            {.names = Names::kOutput}},
           {"--plot",
            &o.plot,
            "picture to write of the loss over the steps",
            {.names = Names::kOutput, .suffix = ".svg"}},
           {"--keep-going", &o.keep_going, "go on although the loss is infinite or not a number"},
           {"--save",
            &o.save,
            "safetensors file for the last state, and where in its data the training stands",
            {.names = Names::kOutput}},
           {"--save-every", &o.save_every, "save also after every so many steps, as in 100, or seconds, as in 30s"},
           {"--resume", &o.resume, "go on from what --save wrote, if it is there, as if it had never stopped"},
           {"--threads", &o.threads, "1 by default; the results are the same for any number", {.positive = true}},
           {"--json", &o.json, "tell how it ended as one JSON object"},
           trust_option(&o.trust)},
      .run = [options] { Training(*options).run(); },
  };
}

}  // namespace ingot
