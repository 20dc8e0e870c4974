// ingot run: runs an entry point once.
#include <fmt/format.h>

#include <filesystem>

#include "aot/base/error.h"
#include "apps/ingot/command.h"
#include "apps/ingot/device.h"
#include "apps/ingot/tensor_files.h"

namespace ingot {
namespace {

struct RunOptions {
  std::string bundle, entry, state, save_state, save_outputs;
  std::vector<std::string> inputs;
  uint32_t threads = 1;
};

void run(const RunOptions& options) {
  Device device(options.bundle, options.threads);
  const uint32_t entry = device.find_entry(options.entry);
  device.start_state(options.state);
  const auto inputs = device.inputs(entry);
  const auto outputs = device.outputs(entry);
  const Device::Bound bound = device.bind(entry);

  std::vector<bool> given(inputs.size());
  for (const std::string& text : options.inputs) {
    const size_t equals = text.find('=');
    if (equals == text.npos) throw_error(nullptr, fmt::format("--input {}: write NAME=VALUE", text));
    const uint32_t index = device.bundle().find_input(entry, text.substr(0, equals));
    fill_tensor(inputs[index], text.substr(equals + 1), bound.inputs[index]);
    given[index] = true;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!given[i])
      throw_error(nullptr,
                  fmt::format("input {} is missing; give it by --input {}=...", to_string(inputs[i]), inputs[i].name));
  }
  device.run(entry);

  if (!options.save_outputs.empty()) std::filesystem::create_directories(options.save_outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::string line = to_string(outputs[i]);
    if (outputs[i].rank == 0) line += fmt::format(" = {:.9g}", scalar_value(outputs[i], bound.outputs[i]));
    if (!options.save_outputs.empty()) {
      const std::string path =
          (std::filesystem::path(options.save_outputs) / (std::string(outputs[i].name) + ".npy")).string();
      write_npy(path, outputs[i], bound.outputs[i]);
      line += " -> " + path;
    }
    fmt::print("{}\n", line);
  }
  if (!options.save_state.empty()) device.save_state(options.save_state);
}

}  // namespace

void add_run_command(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run an entry point once");
  command->add_option("bundle", options->bundle, "the bundle")->required();
  command->add_option("entry", options->entry, "entry point (default: the only one)");
  command->add_option("--input", options->inputs, "NAME=@FILE.npy | @FILE.safetensors:KEY | random | NUMBER");
  command->add_option("--state", options->state, "safetensors file with the state");
  command->add_option("--save-outputs", options->save_outputs, "folder for the outputs, as .npy files");
  command->add_option("--save-state", options->save_state, "safetensors file for the state afterwards");
  command->add_option("--threads", options->threads, "1 by default");
  command->footer(
      "example:\n  ingot run net.ingot predict --input images=@x.npy --state trained.safetensors --save-outputs out/");
  command->callback([options] { run(*options); });
}

}  // namespace ingot
