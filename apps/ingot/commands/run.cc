// ingot run: runs an entry point once.
#include <fmt/format.h>

#include <filesystem>

#include "aot/base/error.h"
#include "aot/base/join.h"
#include "apps/ingot/command.h"
#include "apps/ingot/device/device.h"
#include "apps/ingot/device/keys.h"
#include "apps/ingot/device/tensor_files.h"
#include "apps/ingot/device/wanted_call.h"
#include "apps/ingot/files/npy.h"
#include "apps/ingot/terminal/report.h"

namespace ingot {
namespace {

struct RunOptions {
  std::string bundle, entry, state, save_state, save_outputs;
  std::vector<std::string> inputs, trust;
  uint32_t threads = 1;
  bool cast = false;
  bool json = false;
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

// The first elements of an output, for people.
std::string first_values(const ingot_tensor_info& tensor, std::span<const std::byte> data) {
  constexpr size_t kMost = 8;
  const size_t element_bytes = ingot_dtype_bytes(tensor.dtype), count = data.size() / element_bytes;
  const auto value = [&](size_t i) {
    return fmt::format("{:.9g}", scalar_value(tensor, data.subspan(i * element_bytes, element_bytes)));
  };
  if (tensor.rank == 0) return value(0);
  std::vector<std::string> values;
  for (size_t i = 0; i < std::min(count, kMost); ++i) values.push_back(value(i));
  return fmt::format("[{}{}]", join(values, ", "), count > kMost ? ", ..." : "");
}

Json json_of(const ingot_tensor_info& tensor, std::span<const std::byte> data, const std::string& file) {
  Json row = {{"name", tensor.name},
              {"dtype", ingot_dtype_name(tensor.dtype)},
              {"shape", std::vector<uint64_t>(tensor.dims, tensor.dims + tensor.rank)}};
  if (tensor.rank == 0) row["value"] = scalar_value(tensor, data);
  if (!file.empty()) row["file"] = file;
  return row;
}

// Writes the outputs to files, if asked; tells of each.
void show_outputs(const std::vector<ingot_tensor_info>& outputs, const Device::Bound& bound,
                  const RunOptions& options) {
  if (!options.save_outputs.empty()) std::filesystem::create_directories(options.save_outputs);
  Json object = report("run");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::span<const std::byte> data = bound.outputs[i].first(outputs[i].bytes);
    std::string path;
    if (!options.save_outputs.empty()) {
      path = (std::filesystem::path(options.save_outputs) / file_name(outputs[i].name)).string();
      write_npy(path, outputs[i], data);
    }
    object["outputs"].push_back(json_of(outputs[i], data, path));
    if (options.json) continue;
    fmt::print("{} = {}{}{}\n", to_string(outputs[i]), first_values(outputs[i], data), path.empty() ? "" : " -> ",
               path);
  }
  if (options.json) print(object);
}

void run(const RunOptions& options) {
  Device device(options.bundle, options.threads, options.trust);
  const auto& [entry, inputs, outputs, dims] = wanted_call(device, options.entry, options.inputs);
  device.start_state(options.state);
  const Device::Bound bound = device.bind(entry);
  const std::vector<InputSource> sources = fill_inputs(device, entry, inputs, options.inputs, bound, options.cast);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (sources[i] != InputSource::kNone) continue;
    throw_error(nullptr,
                fmt::format("input {} is missing; give it by --input {}=...", to_string(inputs[i]), inputs[i].name));
  }
  device.run(entry);
  show_outputs(outputs, bound, options);
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
      .options =
          {{"bundle", &o.bundle, "the bundle", {.required = true, .names = Names::kInput}},
           {"entry", &o.entry,
            "entry point, or program at several sizes: the smallest that holds the arrays given (default: the only "
            "one, "
            "or train_step)"},
           {"--input", &o.inputs, "NAME=@FILE.npy | @FILE.safetensors:KEY | random | NUMBER", {.names = Names::kInput}},
           {"--cast", &o.cast, "convert arrays of other element types; integers must fit"},
           {"--state", &o.state, "safetensors file with the state, or zeros (default: the init entry)"},
           {"--save-outputs", &o.save_outputs, "folder for the outputs, as .npy files"},
           {"--save-state", &o.save_state, "safetensors file for the state afterwards", {.names = Names::kOutput}},
           {"--threads", &o.threads, "1 by default", {.positive = true}},
           {"--json", &o.json, "tell of the outputs as one JSON object"},
           trust_option(&o.trust)},
      .run = [options] { run(*options); },
  };
}

}  // namespace ingot
