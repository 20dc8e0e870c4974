#include "aot/pipeline/compile.h"

#include <chrono>
#include <cstdlib>
#include <map>
#include <sstream>

#include "aot/analysis/flops.h"
#include "aot/ops/support/build.h"
#include "aot/pipeline/initial_state.h"
#include "aot/pipeline/to_spec.h"
#include "aot/plan/check_plan.h"
#include "aot/plan/make_plan.h"
#include "aot/schedule/lower.h"

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

// One target: lowers, plans and compiles every entry. Changes the functions (copies of results).
bundle::Target compile_target(const std::vector<Function*>& entries, const plan::StateTable& state,
                              const loops::Target& target, std::vector<plan::Plan>& plans, Phases& phases) {
  phases.begin("lower and plan for " + std::string(target.name));
  std::map<const Op*, Lowering> lowerings;
  const plan::LoweringOf lowering_of = [&](const Op& op) -> const Lowering& {
    const auto found = lowerings.find(&op);
    return found != lowerings.end() ? found->second : lowerings.emplace(&op, lower(op, target)).first->second;
  };
  plan::RodataPool rodata;
  plan::KernelTable kernels;
  std::vector<bundle::Plan> specs;
  for (Function* entry : entries) {
    plan::separate_results(*entry, all_ops(), lowering_of);
    plans.push_back(plan::make_plan(*entry, state, rodata, kernels, lowering_of));
    specs.push_back(plan_spec(plans.back(), static_cast<int>(entry_signature(*entry).inputs.size())));
  }
  for (const plan::Plan& plan : plans) {
    plan::check_plan(plan, state.bytes(), static_cast<int64_t>(rodata.bytes().size()));
  }
  phases.begin("code for " + std::string(target.name));
  codegen::CodeImage image = codegen::compile(kernels.kernels(), target);
  return target_spec(target, kernels, std::move(image), rodata.bytes(), std::move(specs));
}

}  // namespace

std::vector<std::string> default_targets() {
  const char* variable = std::getenv("INGOT_TARGETS");
  if (!variable || !*variable) return {"host"};
  std::vector<std::string> targets;
  std::istringstream names(variable);
  for (std::string name; std::getline(names, name, ',');) targets.push_back(name);
  return targets;
}

void Compiled::write(const std::string& path) const { bundle::write_bundle_file(spec, path); }

Compiled compile(Modules modules, const CompileOptions& options) {
  Compiled compiled;
  Phases phases(options, compiled.times);
  phases.begin("passes");
  std::vector<GivenShape> shapes = options.shapes;
  for (auto& module : modules) {
    PassContext context(all_ops());
    context.shapes = std::move(shapes);
    run_passes(compile_passes(), *module, context, options.pipeline);
    shapes = std::move(context.shapes);
    std::move(context.fuse_notes.begin(), context.fuse_notes.end(), std::back_inserter(compiled.fuse_notes));
    std::move(context.layout_notes.begin(), context.layout_notes.end(), std::back_inserter(compiled.layout_notes));
  }
  check_shapes_are_used(shapes);

  const std::vector<Function*> entries = entry_points(modules);
  plan::StateTable state;
  for (const Function* entry : entries) {
    state.add(*entry);
    compiled.spec.entries.push_back(entry_signature(*entry));
    compiled.spec.entries.back().flops = static_cast<uint64_t>(count_flops(entry->body));
  }
  compiled.spec.name = options.name;
  compiled.spec.states = state_spec(state, {entries.begin(), entries.end()});
  compiled.spec.state_bytes = state.bytes();
  if (!options.initial_state.empty()) set_initial_state(state, options.initial_state, compiled.spec);
  for (const std::string& name : options.targets) {
    Modules copies;
    for (const auto& module : modules) copies.push_back(copy_module(*module));
    compiled.spec.targets.push_back(
        compile_target(entry_points(copies), state, loops::find_target(name), compiled.plans.emplace_back(), phases));
  }
  phases.end();
  return compiled;
}

Compiled compile(Program& program, const CompileOptions& options) {
  Modules modules;
  modules.push_back(copy_module(program.module()));
  return compile(std::move(modules), options);
}

}  // namespace ingot
