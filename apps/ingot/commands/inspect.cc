// ingot inspect: what is in a bundle.
#include <fmt/format.h>

#include <ingot/engine.hpp>
#include <optional>

#include "aot/base/error.h"
#include "aot/base/file.h"
#include "aot/base/join.h"
#include "apps/ingot/command.h"
#include "apps/ingot/device/keys.h"
#include "apps/ingot/device/tensor_files.h"
#include "apps/ingot/files/sources.h"
#include "apps/ingot/terminal/chart.h"
#include "apps/ingot/terminal/names.h"
#include "apps/ingot/terminal/report.h"

namespace ingot {
namespace {

struct InspectOptions {
  std::string bundle, memory_svg, entry, target;
  bool json = false;
};

// The target that this machine would run, or "".
std::string target_here(const std::string& path) {
  try {
    return engine::Bundle(path).info().target;
  } catch (const engine::Failure&) {
    return "";
  }
}

// Why this machine does not run the bundle's code for a target, as the engine says it; "" if it does.
std::string why_not_here(const std::string& path, const bundle::Target& target) {
  ingot_open_options options = {};
  options.target = target.name.c_str();
  ingot_requirements needs;
  ingot_error error = {};
  return ingot_probe_file_with(path.c_str(), &options, &needs, &error) == INGOT_OK ? "" : error.text;
}

// What the engine makes of a bundle on this machine.
struct Here {
  std::string target;                // that it takes, or ""
  std::vector<std::string> why_not;  // for each target
};

Here look_here(const std::string& path, const bundle::BundleSpec& spec) {
  Here here = {target_here(path), {}};
  for (const bundle::Target& target : spec.targets) here.why_not.push_back(why_not_here(path, target));
  return here;
}

// The kernel that a step calls; null for a jump.
const bundle::Kernel* kernel_of(const bundle::Step& step, const bundle::Target& target) {
  return step.kind == bundle::StepKind::kKernel ? &target.kernels[step.kernel] : nullptr;
}

uint64_t scratch_bytes(const bundle::Plan& plan, const bundle::Target& target) {
  uint64_t most = 0;
  for (const bundle::Step& step : plan.steps) {
    if (const bundle::Kernel* kernel = kernel_of(step, target)) most = std::max(most, kernel->scratch_bytes);
  }
  return most;
}

// What is said to make a buffer: the bundle keeps no names of values, and the compiler's own would say less.
std::string writer_of(const bundle::Buffer& buffer, const bundle::Plan& plan, const bundle::Target& target) {
  const bool is_step = buffer.first_step < plan.steps.size();
  const bundle::Kernel* kernel = is_step ? kernel_of(plan.steps[buffer.first_step], target) : nullptr;
  return kernel ? kernel->name : "?";
}

// The default value of a scalar input.
std::optional<double> scalar_default(const bundle::Tensor& tensor) {
  if (tensor.default_value.empty() || !tensor.dims.empty()) return std::nullopt;
  ingot_tensor_info scalar = {};
  scalar.dtype = tensor.dtype;
  return scalar_value(scalar, tensor.default_value);
}

Json json_of(const bundle::Tensor& tensor) {
  Json row = {{"name", tensor.name},
              {"dtype", ingot_dtype_name(tensor.dtype)},
              {"shape", tensor.dims},
              {"bytes", bundle::tensor_bytes(tensor)}};
  if (const auto value = scalar_default(tensor)) row["default"] = *value;
  return row;
}

Json json_of(const bundle::State& state) {
  Json row = json_of(state.tensor);
  row["role"] = state.role;
  return row;
}

template <typename T>
Json list(const std::vector<T>& all) {
  Json rows = Json::array();
  for (const T& one : all) rows.push_back(json_of(one));
  return rows;
}

Json json_of(const std::vector<Signer>& signers) {
  Json rows = Json::array();
  for (const Signer& signer : signers) rows.push_back({{"key", name_of(signer.key)}, {"good", signer.is_good}});
  return rows;
}

Json json_of(const bundle::Target& target, const std::string& why_not) {
  return {{"name", target.name},
          {"isa", target.isa},
          {"cpu_features", target.cpu_features},
          {"runs_here", why_not.empty()},
          {"why_not", why_not},
          {"code_bytes", target.code.size()},
          {"rodata_bytes", target.rodata.size()},
          {"kernels", target.kernels.size()}};
}

Json json_of(const bundle::BundleSpec& spec, const Here& here, const std::vector<Signer>& signers) {
  Json object = report("inspect");
  object.update({{"name", spec.name},
                 {"producer", spec.producer},
                 {"signatures", json_of(signers)},
                 {"required_features", spec.required_features},
                 {"strict", spec.is_strict},
                 {"runs_here", here.target},
                 {"state_bytes", spec.state_bytes}});
  for (size_t i = 0; i < spec.targets.size(); ++i) {
    object["targets"].push_back(json_of(spec.targets[i], here.why_not[i]));
  }
  for (size_t i = 0; i < spec.entries.size(); ++i) {
    const bundle::Entry& entry = spec.entries[i];
    Json row = {
        {"name", entry.name}, {"flops", entry.flops}, {"inputs", list(entry.inputs)}, {"outputs", list(entry.outputs)}};
    for (const bundle::Target& target : spec.targets) {
      const bundle::Plan& plan = target.plans[i];
      row["plans"].push_back({{"target", target.name},
                              {"steps", plan.steps.size()},
                              {"buffers", plan.buffers.size()},
                              {"arena_bytes", plan.arena_bytes},
                              {"lower_bound_bytes", plan.lower_bound_bytes},
                              {"scratch_bytes", scratch_bytes(plan, target)}});
    }
    object["entries"].push_back(std::move(row));
  }
  object["state"] = list(spec.states);
  object["frozen"] = Json::array();
  for (const bundle::Frozen& frozen : spec.frozen) object["frozen"].push_back(json_of(frozen.tensor));
  return object;
}

void print_tensor(const bundle::Tensor& tensor, const std::string& role) {
  const std::string typed =
      fmt::format("{}: {}[{}]", tensor.name, ingot_dtype_name(tensor.dtype), join(tensor.dims, ","));
  fmt::print("    {:56} {:>12}{}{}\n", typed, size_text(bundle::tensor_bytes(tensor)), role.empty() ? "" : "  ", role);
}

void print_text(const std::vector<Signer>& signers) {
  const char* const who = signers.empty() ? "not signed" : "signed";
  fmt::print("  native code, {}: whoever runs it trusts whoever made it\n", who);
  for (const Signer& signer : signers) {
    fmt::print("  signed by {}{}\n", name_of(signer.key), signer.is_good ? "" : ", but CHANGED SINCE");
  }
}

void print_text(const bundle::Target& target, const std::string& why_not, bool is_taken) {
  fmt::print("  {}: {} of code in {} kernels, {} of constants; needs {} ({})\n", target.name,
             size_text(target.code.size()), target.kernels.size(), size_text(target.rodata.size()),
             target.cpu_features.empty() ? target.isa : join(target.cpu_features, ","),
             is_taken          ? "runs here"
             : why_not.empty() ? "would run here"
                               : "does not run here: " + why_not);
}

void print_text(const bundle::BundleSpec& spec, const Here& here, const std::vector<Signer>& signers) {
  fmt::print("{} (by {})\n", spec.name, spec.producer);
  print_text(signers);
  if (!spec.required_features.empty()) fmt::print("  needs an engine with {}\n", join(spec.required_features, ", "));
  if (spec.is_strict) fmt::print("  strict: every processor gives the same bits\n");
  for (size_t i = 0; i < spec.targets.size(); ++i) {
    print_text(spec.targets[i], here.why_not[i], spec.targets[i].name == here.target);
  }
  for (size_t i = 0; i < spec.entries.size(); ++i) {
    const bundle::Entry& entry = spec.entries[i];
    fmt::print("\nentry {}: {} flops\n", entry.name, entry.flops);
    for (const bundle::Target& target : spec.targets) {
      const bundle::Plan& plan = target.plans[i];
      fmt::print("  {}: {} steps, arena {}", target.name, plan.steps.size(), size_text(plan.arena_bytes));
      if (plan.lower_bound_bytes > 0) {
        fmt::print(" ({:.3f} x the lower bound of {})",
                   static_cast<double>(plan.arena_bytes) / static_cast<double>(plan.lower_bound_bytes),
                   size_text(plan.lower_bound_bytes));
      }
      fmt::print(", scratch {} a thread\n", size_text(scratch_bytes(plan, target)));
    }
    fmt::print("  inputs\n");
    for (const bundle::Tensor& tensor : entry.inputs) {
      const auto value = scalar_default(tensor);
      print_tensor(tensor, value ? fmt::format("default {:.9g}", *value) : "");
    }
    fmt::print("  outputs\n");
    for (const bundle::Tensor& tensor : entry.outputs) print_tensor(tensor, "");
  }
  fmt::print("\nstate: {}\n", size_text(spec.state_bytes));
  for (const bundle::State& state : spec.states) print_tensor(state.tensor, state.role);
  if (!spec.frozen.empty()) fmt::print("\nfrozen: state of the program that is constant here\n");
  for (const bundle::Frozen& frozen : spec.frozen) print_tensor(frozen.tensor, "");
}

// The arena over the steps: a box for each buffer, named after the kernel that writes it.
std::string memory_svg(const bundle::BundleSpec& spec, uint32_t entry, const bundle::Target& target) {
  const bundle::Plan& plan = target.plans[entry];
  Chart chart(fmt::format("{} of {} on {}: {} steps, {} buffers, arena {} bytes", spec.entries[entry].name, spec.name,
                          target.name, plan.steps.size(), plan.buffers.size(), plan.arena_bytes),
              {"step", 0, static_cast<double>(plan.steps.size())}, {"bytes", 0, static_cast<double>(plan.arena_bytes)});
  for (const bundle::Buffer& buffer : plan.buffers) {
    const std::string writer = writer_of(buffer, plan, target);
    chart.add({.left = static_cast<double>(buffer.first_step),
               .right = static_cast<double>(buffer.last_step + 1),
               .bottom = static_cast<double>(buffer.offset_bytes),
               .top = static_cast<double>(buffer.offset_bytes + buffer.bytes),
               .label = writer,
               .title = fmt::format("{}: {} bytes at {}, steps {} to {}{}", writer, buffer.bytes, buffer.offset_bytes,
                                    buffer.first_step, buffer.last_step, buffer.in_place_of ? ", in place" : "")});
  }
  chart.add_level(static_cast<double>(plan.lower_bound_bytes), fmt::format("lower bound {}", plan.lower_bound_bytes));
  return chart.svg();
}

const bundle::Target& pick_target(const bundle::BundleSpec& spec, const std::string& name) {
  for (const bundle::Target& target : spec.targets) {
    if (name.empty() || target.name == name) return target;
  }
  throw_error(nullptr, fmt::format("the bundle has no target '{}'{}", name, suggestion(names_of(spec.targets), name)));
}

void inspect(const InspectOptions& options) {
  const bundle::BundleSpec spec = load_bundle(options.bundle);
  if (!options.memory_svg.empty()) {
    const uint32_t entry = pick_entry(names_of(spec.entries), options.entry);
    write_file(options.memory_svg, memory_svg(spec, entry, pick_target(spec, options.target)));
  }
  const Here here = look_here(options.bundle, spec);
  const std::vector<Signer> signers = signers_of(read_bytes(options.bundle));
  options.json ? print(json_of(spec, here, signers)) : print_text(spec, here, signers);
}

}  // namespace

Command inspect_command() {
  auto options = std::make_shared<InspectOptions>();
  InspectOptions& o = *options;
  return {
      .name = "inspect",
      .help = "Show what is in a bundle: entry points, tensors, code and memory for each target",
      .examples =
          "  ingot inspect step.ingot --json\n"
          "  ingot inspect net.ingot --memory-svg memory.svg --entry train_step",
      .options = {{"bundle", &o.bundle, "the bundle", {.required = true, .names = Names::kInput}},
                  {"--json", &o.json, "the same as JSON"},
                  {"--memory-svg",
                   &o.memory_svg,
                   "picture to write of an entry's arena: steps across, bytes up",
                   {.names = Names::kOutput, .suffix = ".svg"}},
                  {"--entry", &o.entry, "the entry of the picture (default: the only one, or train_step)"},
                  {"--target", &o.target, "the target of the picture (default: the first)"}},
      .run = [options] { inspect(*options); },
  };
}

}  // namespace ingot
