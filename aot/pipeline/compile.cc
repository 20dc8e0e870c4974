#include "aot/pipeline/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <sstream>

#include "aot/analysis/flops.h"
#include "aot/base/printable.h"
#include "aot/ops/support/build.h"
#include "aot/pipeline/check_signatures.h"
#include "aot/pipeline/fold_kernels.h"
#include "aot/pipeline/hot_loops.h"
#include "aot/pipeline/initial_state.h"
#include "aot/pipeline/stages.h"
#include "aot/pipeline/to_spec.h"
#include "aot/plan/check_plan.h"
#include "aot/plan/make_plan.h"
#include "aot/plan/separate_results.h"
#include "aot/schedule/lower_function.h"

namespace ingot {
namespace {

// The phases of the work: each is told of as it begins, and timed until the next or the end.
class Phases {
 public:
  Phases(const CompileOptions& options, std::vector<PhaseTime>& times) : options_(options), times_(times) {}

  void begin(const std::string& phase) {
    end();
    if (options_.on_phase) options_.on_phase(phase);
    start_ = std::chrono::steady_clock::now();
    times_.push_back({phase, 0});
  }
  void end() {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    if (!times_.empty()) times_.back().seconds = elapsed.count();
  }

 private:
  const CompileOptions& options_;
  std::vector<PhaseTime>& times_;
  std::chrono::steady_clock::time_point start_;
};

using Modules = std::vector<std::unique_ptr<Module>>;

std::vector<Function*> entry_points(const Modules& modules) {
  std::vector<Function*> entries;
  for (const auto& module : modules) {
    for (const auto& function : module->functions) {
      if (function->is_private) continue;
      for (const Function* other : entries) {
        if (other->name == function->name) {
          throw_error(function->location, "two entry points are named '" + function->name +
                                              "'; give one another name (ingot compile NAME=FILE)");
        }
      }
      entries.push_back(function.get());
    }
  }
  if (entries.empty()) throw_error(nullptr, "there is no public function to compile");
  return entries;
}

// What the passes of one module are told: where there are several, each has a folder of its own for dumps, named after
// its first entry point.
PipelineOptions options_of(const Module& module, PipelineOptions options, bool is_one_of_several) {
  options.later_stages = stage_names();
  const auto entry = std::ranges::find(module.functions, false, &Function::is_private);
  if (is_one_of_several && !options.dump_dir.empty() && entry != module.functions.end()) {
    options.dump_dir += "/" + (*entry)->name;
  }
  return options;
}

const loops::Target& find_target(const std::string& name, const CompileOptions& options) {
  const loops::Target& target = loops::find_target(name);
  return options.is_strict ? loops::strict_row(target) : target;
}

// Makes constants of state as the options say, of the values that set_initial_state would take.
std::vector<FrozenState> freeze(const Modules& modules, const CompileOptions& options) {
  if (options.freeze == Freeze::kNothing || options.initial_state == kZeroState) return {};
  if (options.freeze == Freeze::kBrought && options.values.empty()) return {};
  const SafeTensors file = options.initial_state.empty() ? SafeTensors() : SafeTensors::read(options.initial_state);
  std::map<std::string, SafeTensor> values = options.values;
  for (const auto& [name, value] : file.tensors()) {
    if (options.freeze == Freeze::kAll || values.contains(name)) values[name] = value;
  }
  return freeze_state(modules, values);
}

// The constants of all targets. One that has half of its own in common with an earlier one, or more, shares a pool with
// it: they lie in the bundle once. Fewer would not be worth it: all of a target's pool is checked when it is opened.
class RodataPools {
 public:
  plan::RodataPool& pool_for(const std::vector<lowered::Function>& entries) {
    size_t pool = 0;
    while (pool < pools_.size() && !has_half_of(entries, pools_[pool])) ++pool;
    if (pool == pools_.size()) pools_.emplace_back();
    pool_of_target_.push_back(pool);
    return pools_[pool];
  }
  const std::vector<std::byte>& bytes_of(size_t target) const { return pools_[pool_of_target_[target]].bytes(); }

 private:
  static bool has_half_of(const std::vector<lowered::Function>& entries, const plan::RodataPool& pool) {
    int64_t common_bytes = 0, all_bytes = 0;
    for (const lowered::Function& entry : entries) {
      for (const lowered::Constant& constant : entry.constants) {
        const int64_t bytes = constant.literal->type.bytes();
        all_bytes += bytes;
        if (pool.has(*constant.literal)) common_bytes += bytes;
      }
    }
    return 2 * common_bytes >= all_bytes;
  }

  std::deque<plan::RodataPool> pools_;
  std::vector<size_t> pool_of_target_;
};

// One target: lowers, plans and compiles every entry. Its constants are among `pools`; it has no rodata yet.
bundle::Target compile_target(const std::vector<Function*>& entries, const plan::StateTable& state,
                              const loops::Target& target, const CompileOptions& options, RodataPools& pools,
                              Compiled& compiled, Phases& phases) {
  const StageTexts texts(options.pipeline, target);
  std::vector<plan::Plan>& plans = compiled.plans.emplace_back();
  phases.begin("lower and plan for " + std::string(target.name));
  std::vector<lowered::Function> lowered;
  for (const Function* entry : entries) {
    lowered.push_back(lower_function(*entry, target, &compiled.lowering_notes));
    fold_kernels(lowered.back(), *entry, target);
    plan::separate_results(lowered.back());
    lower_copies(lowered.back(), target);
  }
  plan::RodataPool& rodata = pools.pool_for(lowered);
  plan::KernelTable kernels;
  const auto make_plan = [&](const lowered::Function& function) {
    return plan::make_plan(function, state, rodata, kernels);
  };
  std::vector<bundle::Plan> specs;
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::optional<int64_t> limit_bytes = limit_of(options.memory_limits, entries[i]->name);
    plans.push_back(limit_bytes
                        ? plan_within(*limit_bytes, lowered[i], *entries[i], target, make_plan, compiled.memory_notes)
                        : make_plan(lowered[i]));
    texts.show_lowered(lowered[i]);
    specs.push_back(plan_spec(plans.back(), *entries[i]));
  }
  texts.show_kernels(kernels.kernels());
  texts.show_plans(plans);
  for (const plan::Plan& plan : plans) {
    plan::check_plan(plan, state.bytes(), static_cast<int64_t>(rodata.bytes().size()));
  }
  if (options.plans_only) return {};
  phases.begin("code for " + std::string(target.name));
  texts.show_code(kernels.kernels());
  codegen::CodeImage image = codegen::compile(kernels.kernels(), target, {.threads = options.jobs, .dump = {}});
  if (options.reads_code) note_hot_loops(compiled.lowering_notes, plans, kernels.kernels(), image, target);
  return target_spec(target, kernels, std::move(image), {}, std::move(specs));
}

// Plans the modules with as many micro-batches as limits need: the options that say how many that are.
CompileOptions with_parts(const Modules& modules, const CompileOptions& options) {
  const auto try_parts = [&](const std::vector<MicroBatches>& parts) {
    CompileOptions planning = options;
    planning.micro_batches = parts;
    planning.plans_only = true;
    planning.pipeline = {.skip = options.pipeline.skip};
    Modules copies;
    for (const auto& module : modules) copies.push_back(copy_module(*module));
    std::map<std::string, double> again_shares;
    for (const MemoryNote& note : compile(std::move(copies), planning).memory_notes) {
      double& share = again_shares[note.entry];  // of the target where it is most
      share = std::max(share, note.again_share());
    }
    return again_shares;
  };
  CompileOptions with = options;
  with.micro_batches = fewest_parts(options.micro_batches, entry_points(modules), try_parts);
  return with;
}

}  // namespace

std::vector<std::string> default_targets() {
  const char* variable = std::getenv("INGOT_TARGETS");
  if (!variable || !*variable) return loops::default_targets();
  std::vector<std::string> targets;
  std::istringstream names(variable);
  for (std::string name; std::getline(names, name, ',');) targets.push_back(name);
  return targets;
}

bool is_strict_by_default() {
  const char* variable = std::getenv("INGOT_STRICT");
  return variable && std::string_view(variable) == "1";
}

std::string to_string(const std::vector<LoweringNote>& notes) {
  std::string text;
  for (const LoweringNote& note : notes) {
    const std::string place = describe(note.location);
    text += fmt::format("{}{}{} for {}: {}{}{}\n", place, place.empty() ? "" : ": ", note.kernel, note.target,
                        note.choice, note.machine_code.empty() ? "" : "; ", note.machine_code);
  }
  return text;
}

void Compiled::write(const std::string& path) const {
  if (!spec.name.empty()) return bundle::write_bundle_file(spec, path);
  bundle::BundleSpec named = spec;
  named.name = std::filesystem::path(path).stem().string();
  bundle::write_bundle_file(named, path);
}

Compiled compile(Modules modules, const CompileOptions& options) {
  check_micro_batches(options.micro_batches, entry_points(modules), options.memory_limits);
  if (has_auto(options.micro_batches)) {
    const CompileOptions with = with_parts(modules, options);
    return compile(std::move(modules), with);
  }
  Compiled compiled;
  Phases phases(options, compiled.times);
  phases.begin("passes");
  const std::vector<FrozenState> frozen = freeze(modules, options);
  std::vector<GivenShape> shapes = options.shapes;
  for (auto& module : modules) {
    PassContext context;
    if (!options.targets.empty()) context.target = &find_target(options.targets[0], options).order();
    context.shapes = std::move(shapes);
    context.math = options.is_strict ? Math::kExact : options.math;
    context.folds_scales = !frozen.empty();
    context.quantization = options.quantization ? &*options.quantization : nullptr;
    context.weight_bits = options.weight_bits;
    context.observed_weights = options.observed_weights;
    context.micro_batches = options.micro_batches;
    run_passes(compile_passes(), *module, context, options_of(*module, options.pipeline, modules.size() > 1));
    shapes = std::move(context.shapes);
    std::move(context.fuse_notes.begin(), context.fuse_notes.end(), std::back_inserter(compiled.fuse_notes));
    std::move(context.layout_notes.begin(), context.layout_notes.end(), std::back_inserter(compiled.layout_notes));
    std::ranges::move(context.product_notes, std::back_inserter(compiled.product_notes));
    std::ranges::move(context.weight_notes, std::back_inserter(compiled.weight_notes));
    std::ranges::move(context.micro_batch_notes, std::back_inserter(compiled.micro_batch_notes));
  }
  check_shapes_are_used(shapes);

  const std::vector<Function*> entries = entry_points(modules);
  check_signatures(entries);
  check_limits(options.memory_limits, entries);
  const plan::StateTable state = state_table(entries);
  for (const Function* entry : entries) {
    compiled.spec.entries.push_back(entry_signature(*entry));
    compiled.spec.entries.back().flops = static_cast<uint64_t>(count_flops(entry->body));
  }
  compiled.spec.name = printable(options.name);
  compiled.spec.states = state_spec(state);
  compiled.spec.frozen = frozen_spec(frozen);
  compiled.spec.is_strict = options.is_strict;
  compiled.spec.state_bytes = state.bytes();
  set_initial_state(state, entries, options.initial_state, options.values, compiled.spec);
  RodataPools pools;
  for (const std::string& name : options.targets) {
    compiled.spec.targets.push_back(
        compile_target(entries, state, find_target(name, options), options, pools, compiled, phases));
  }
  for (size_t i = 0; i < compiled.spec.targets.size(); ++i) compiled.spec.targets[i].rodata = pools.bytes_of(i);
  phases.end();
  return compiled;
}

Compiled compile(Program& program, const CompileOptions& options) {
  Modules modules;
  modules.push_back(copy_module(program.module()));
  return compile(std::move(modules), options);
}

}  // namespace ingot
