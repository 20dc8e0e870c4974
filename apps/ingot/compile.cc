// ingot compile: from programs to a bundle.
#include "aot/pipeline/compile.h"

#include <fmt/format.h>

#include <filesystem>

#include "aot/base/error.h"
#include "aot/bundle/bundle.h"
#include "apps/ingot/command.h"
#include "apps/ingot/sources.h"

namespace ingot {
namespace {

struct CompileCommand {
  std::vector<std::string> inputs;
  std::string output;
  CompileOptions options;
  std::vector<std::string> explain;
  bool print_plan = false;
  bool time_passes = false;
};

void print_notes(const std::vector<FuseNote>& notes) {
  for (const FuseNote& note : notes) {
    fmt::print("{}: {} and {} stayed apart: {}\n", describe(note.location), note.producer, note.consumer, note.reason);
  }
}

void report(const Compiled& compiled, const std::string& path) {
  fmt::print("{}: {} bytes\n", path, std::filesystem::file_size(path));
  for (size_t t = 0; t < compiled.plans.size(); ++t) {
    const bundle::Target& target = compiled.spec.targets[t];
    fmt::print("  {}: {} kernels, {} bytes of code\n", target.name, target.kernels.size(), target.code.size());
    for (const plan::Plan& plan : compiled.plans[t]) {
      fmt::print("    {}: {} steps, arena {} bytes, lower bound {}, scratch {} a thread\n", plan.entry,
                 plan.steps.size(), plan.arena_bytes, plan.lower_bound_bytes, plan.scratch_bytes);
    }
  }
}

void compile_command(CompileCommand command) {
  std::vector<std::unique_ptr<Module>> modules;
  for (const std::string& input : command.inputs) modules.push_back(load_program(input));
  command.options.name = std::filesystem::path(command.output).stem().string();
  command.options.pipeline.time_passes = command.time_passes;
  command.options.pipeline.print = [](const std::string& text) { fmt::print("{}", text); };
  const Compiled compiled = compile(std::move(modules), command.options);
  for (const std::string& what : command.explain) {
    if (what != "fuse") throw_error(nullptr, fmt::format("--explain={}: only fuse can be explained", what));
    print_notes(compiled.fuse_notes);
  }
  if (command.print_plan) {
    for (const plan::Plan& plan : compiled.plans.front()) fmt::print("{}", plan::print(plan));
  }
  bundle::write_bundle_file(compiled.spec, command.output);
  report(compiled, command.output);
  if (command.time_passes) {
    for (const PhaseTime& time : compiled.times) fmt::print("  {:8.3f} s  {}\n", time.seconds, time.phase);
  }
}

}  // namespace

void add_compile_command(CLI::App& app) {
  auto command = std::make_shared<CompileCommand>();
  CLI::App* sub = app.add_subcommand("compile", "Compile programs into a bundle");
  sub->add_option("inputs", command->inputs, "[ENTRY=]FILE.mlir...: StableHLO text; entry points share state by name")
      ->required();
  sub->add_option("-o,--output", command->output, "the bundle to write")->required();
  sub->add_option("--target", command->options.targets,
                  "host, x86-64-v3, x86-64-v4, aarch64; several by commas, best first")
      ->delimiter(',')
      ->capture_default_str();
  sub->add_option("--explain", command->explain, "fuse: why ops stayed in kernels of their own");
  sub->add_flag("--print-plan", command->print_plan, "print the plan: steps, buffers, offsets");
  sub->add_option("--stop-after", command->options.pipeline.stop_after, "a pass: run none after it")->group("");
  sub->add_option("--print-after", command->options.pipeline.print_after, "passes (or all) whose result is printed");
  sub->add_option("--skip", command->options.pipeline.skip, "passes to leave out, for bisecting");
  sub->add_option("--dump-dir", command->options.pipeline.dump_dir, "folder for the graph after every pass");
  sub->add_flag("--time-passes", command->time_passes, "print where the time went");
  sub->footer(
      "examples:\n"
      "  ingot compile step.mlir -o step.ingot\n"
      "  ingot compile train_step=step.mlir predict=forward.mlir -o net.ingot --target x86-64-v4,x86-64-v3");
  sub->callback([command] { compile_command(*command); });
}

}  // namespace ingot
