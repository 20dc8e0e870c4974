// ingot inspect: what is in a bundle.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/ingot/command.h"
#include "apps/ingot/device.h"

namespace ingot {
namespace {

struct InspectOptions {
  std::string bundle;
  bool json = false;
};

nlohmann::json describe(const std::vector<ingot_tensor_info>& tensors) {
  nlohmann::json all = nlohmann::json::array();
  for (const ingot_tensor_info& tensor : tensors) {
    nlohmann::json row = {{"name", tensor.name},
                          {"dtype", engine::dtype_name(tensor.dtype)},
                          {"shape", std::vector<uint64_t>(tensor.dims, tensor.dims + tensor.rank)},
                          {"bytes", tensor.bytes}};
    if (*tensor.role) row["role"] = tensor.role;
    all.push_back(std::move(row));
  }
  return all;
}

nlohmann::json describe(const Device& device) {
  const ingot_bundle_info info = device.bundle().info();
  nlohmann::json report = {{"name", info.name},
                           {"producer", info.producer},
                           {"target", info.target},
                           {"code_bytes", info.code_bytes},
                           {"rodata_bytes", info.rodata_bytes},
                           {"state_bytes", info.state_bytes},
                           {"kernels", info.kernel_count},
                           {"state", describe(device.states())}};
  for (uint32_t i = 0; i < info.entry_count; ++i) {
    const ingot_entry_info entry = device.bundle().entry(i);
    report["entries"].push_back({{"name", entry.name},
                                 {"steps", entry.step_count},
                                 {"arena_bytes", entry.arena_bytes},
                                 {"lower_bound_bytes", entry.lower_bound_bytes},
                                 {"scratch_bytes", entry.scratch_bytes},
                                 {"inputs", describe(device.inputs(i))},
                                 {"outputs", describe(device.outputs(i))}});
  }
  return report;
}

void print_tensors(const char* title, const std::vector<ingot_tensor_info>& tensors) {
  if (tensors.empty()) return;
  fmt::print("  {}\n", title);
  for (const ingot_tensor_info& tensor : tensors) {
    fmt::print("    {:60} {:>12} bytes  {}\n", to_string(tensor), tensor.bytes, tensor.role);
  }
}

void inspect(const InspectOptions& options) {
  const Device device(options.bundle, 1);
  if (options.json) {
    fmt::print("{}\n", describe(device).dump(2));
    return;
  }
  const ingot_bundle_info info = device.bundle().info();
  fmt::print("{} (by {}), running {} here\n", info.name, info.producer, info.target);
  fmt::print("  code {} bytes in {} kernels, constants {} bytes, state {} bytes\n", info.code_bytes, info.kernel_count,
             info.rodata_bytes, info.state_bytes);
  for (uint32_t i = 0; i < info.entry_count; ++i) {
    const ingot_entry_info entry = device.bundle().entry(i);
    fmt::print("\nentry {}: {} steps, arena {} bytes", entry.name, entry.step_count, entry.arena_bytes);
    if (entry.lower_bound_bytes > 0) {
      fmt::print(" ({:.3f} x the lower bound of {})",
                 static_cast<double>(entry.arena_bytes) / static_cast<double>(entry.lower_bound_bytes),
                 entry.lower_bound_bytes);
    }
    fmt::print(", scratch {} bytes a thread\n", entry.scratch_bytes);
    print_tensors("inputs", device.inputs(i));
    print_tensors("outputs", device.outputs(i));
  }
  fmt::print("\n");
  print_tensors("state", device.states());
}

}  // namespace

void add_inspect_command(CLI::App& app) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand("inspect", "Show what is in a bundle: entry points, tensors, memory");
  command->add_option("bundle", options->bundle, "the bundle")->required();
  command->add_flag("--json", options->json, "the same as JSON");
  command->footer("example:\n  ingot inspect step.ingot --json");
  command->callback([options] { inspect(*options); });
}

}  // namespace ingot
