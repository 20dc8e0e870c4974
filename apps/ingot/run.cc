// ingot run: runs an entry point once.
#include <fmt/format.h>

#include <filesystem>

#include "aot/base/error.h"
#include "apps/ingot/command.h"
#include "apps/ingot/device.h"
#include "apps/ingot/keys.h"
#include "apps/ingot/tensor_files.h"

namespace ingot {
namespace {

struct RunOptions {
  std::string bundle, entry, state, save_state, save_outputs;
  std::vector<std::string> inputs, trust;
  uint32_t threads = 1;
};

// The name of a file for an output, which stays in its folder: '/' is "%2F", '%' is "%25", a leading '.' is "%2E".
std::string file_name(const std::string& output) {
  std::string name;
  for (const char c : output) {
    const bool is_escaped = c == '/' || c == '%' || (c == '.' && name.empty());
    name += is_escaped ? fmt::format("%{:02X}", c) : std::string(1, c);
  }
  return name + ".npy";
}

void run(const RunOptions& options) {
  Device device(options.bundle, options.threads, options.trust);
  const uint32_t entry = device.find_entry(options.entry);
  device.start_state(options.state);
  const auto inputs = device.inputs(entry);
  const auto outputs = device.outputs(entry);
  const Device::Bound bound = device.bind(entry);
  const std::vector<InputSource> sources = fill_inputs(device, entry, options.inputs, bound);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (sources[i] != InputSource::kNone) continue;
    throw_error(nullptr,
                fmt::format("input {} is missing; give it by --input {}=...", to_string(inputs[i]), inputs[i].name));
  }
  device.run(entry);

  if (!options.save_outputs.empty()) std::filesystem::create_directories(options.save_outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::string line = to_string(outputs[i]);
    if (outputs[i].rank == 0) line += fmt::format(" = {:.9g}", scalar_value(outputs[i], bound.outputs[i]));
    if (!options.save_outputs.empty()) {
      const std::string path = (std::filesystem::path(options.save_outputs) / file_name(outputs[i].name)).string();
      write_npy(path, outputs[i], bound.outputs[i]);
      line += " -> " + path;
    }
    fmt::print("{}\n", line);
  }
  if (!options.save_state.empty()) device.save_state(options.save_state);
}

}  // namespace

Command run_command() {
  auto options = std::make_shared<RunOptions>();
  RunOptions& o = *options;
  return {
      .name = "run",
      .help = "Run an entry point once",
      .examples = "  ingot run net.ingot predict --input images=@x.npy --state trained.safetensors --save-outputs out/",
      .options = {{"bundle", &o.bundle, "the bundle", {.required = true}},
                  {"entry", &o.entry, "entry point (default: the only one, or train_step)"},
                  {"--input", &o.inputs, "NAME=@FILE.npy | @FILE.safetensors:KEY | random | NUMBER"},
                  {"--state", &o.state, "safetensors file with the state, or zeros (default: the init entry)"},
                  {"--save-outputs", &o.save_outputs, "folder for the outputs, as .npy files"},
                  {"--save-state", &o.save_state, "safetensors file for the state afterwards"},
                  {"--threads", &o.threads, "1 by default"},
                  trust_option(&o.trust)},
      .run = [options] { run(*options); },
  };
}

}  // namespace ingot
