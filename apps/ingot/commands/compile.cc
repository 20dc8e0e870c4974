// ingot compile: from programs to a bundle.
#include "aot/pipeline/compile.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "aot/base/error.h"
#include "aot/base/file.h"
#include "aot/base/join.h"
#include "aot/loops/target.h"
#include "aot/pipeline/initial_state.h"
#include "aot/pipeline/largest_size.h"
#include "apps/ingot/c_sources/static_files.h"
#include "apps/ingot/command.h"
#include "apps/ingot/commands/compile_report.h"
#include "apps/ingot/commands/kept_weights.h"
#include "apps/ingot/commands/memory_options.h"
#include "apps/ingot/commands/training_arguments.h"
#include "apps/ingot/device/keys.h"
#include "apps/ingot/files/sources.h"
#include "apps/ingot/terminal/progress.h"
#include "apps/ingot/terminal/report.h"

namespace ingot {
namespace {

constexpr const char* kStatic = "static";

// The choices of --math.
constexpr std::pair<const char*, Math> kMaths[] = {
    {"exact", Math::kExact}, {"standard", Math::kStandard}, {"fast", Math::kFast}};

std::vector<std::string> math_names() {
  std::vector<std::string> names;
  for (const auto& [name, math] : kMaths) names.emplace_back(name);
  return names;
}

Math math_named(const std::string& wanted) {
  const auto found = std::ranges::find_if(kMaths, [&](const auto& row) { return row.first == wanted; });
  INGOT_CHECK(found != std::end(kMaths));
  return found->second;
}

struct CompileCommand {
  std::vector<std::string> inputs;
  std::string output, sign;
  std::string emit = "bundle";
  std::string math = "standard";
  CompileOptions options;
  std::vector<std::string> shapes, memory_limits, micro_batches;
  std::string largest;
  TrainingArguments training;
  std::string explain;
  bool print_plan = false;
  bool json = false;
  std::string quantize_weights;
  bool freeze = false, no_freeze = false;
};

uint64_t bytes_of_file(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

// Programs share state by name: what two of them bring must be the same.
void add_values(std::map<std::string, SafeTensor> from, const std::string& file,
                std::map<std::string, SafeTensor>& to) {
  for (const auto& [name, value] : from) {
    const auto [at, is_new] = to.emplace(name, value);
    if (is_new || std::ranges::equal(at->second.data, value.data)) continue;
    throw_error(nullptr, fmt::format("{}: the weight '{}' has other values than that of a program before; entry points "
                                     "share weights by name",
                                     file, name));
  }
}

void write_signed(const Compiled& compiled, const std::string& path, const std::optional<ingot_private_key>& key) {
  if (!key) return compiled.write(path);
  WholeFile file(path);
  file.write(signed_bundle(bundle::write_bundle(compiled.spec), *key));
  file.commit();
}

// Where the result goes. A bad path is known before the work.
class Output {
 public:
  explicit Output(const CompileCommand& command) : command_(command) {
    if (command.emit == kStatic) {
      check_static();
      files_.emplace(command.output);
    } else {
      WholeFile(command.output);
      if (!command.sign.empty()) key_ = read_private_key(command.sign);
    }
  }

  std::string name() const { return files_ ? files_->name() : std::filesystem::path(command_.output).stem().string(); }

  Written write(const Compiled& compiled) {
    if (files_) return {command_.emit, command_.output, files_->write(compiled.spec)};
    write_signed(compiled, command_.output, key_);
    return {command_.emit, command_.output, bytes_of_file(command_.output)};
  }

 private:
  void check_static() const {
    if (!command_.sign.empty()) throw_error(nullptr, "--emit static writes no bundle, which --sign would sign");
    const std::vector<std::string>& targets = command_.options.targets;
    if (targets.size() == 1) return;
    throw_error(nullptr,
                fmt::format("--emit static is for one processor, and the targets are {}; name one: --target {}",
                            join(targets, ", "), targets.back()));
  }

  const CompileCommand& command_;
  std::optional<StaticFiles> files_;
  std::optional<ingot_private_key> key_;
};

Freeze freeze_of(const CompileCommand& command) {
  if (command.freeze && command.no_freeze) throw_error(nullptr, "--freeze and --no-freeze exclude each other");
  return command.freeze ? Freeze::kAll : command.no_freeze ? Freeze::kNothing : Freeze::kBrought;
}

// The programs, each at all sizes that are asked for, and what they bring with them.
struct Sources {
  std::vector<std::unique_ptr<Module>> modules;
  std::vector<std::shared_ptr<const void>> holders;  // of first values of state
};

Sources read_sources(const CompileCommand& command, CompileOptions& options, std::vector<std::string>& notes) {
  Sources sources;
  std::vector<SizeChoices> choices = size_choices(command.shapes);
  const bool is_sized = std::ranges::any_of(choices, [](const SizeChoices& c) { return c.sizes.size() > 1; });
  if (is_sized && command.training.is_given())
    throw_error(nullptr, "--train takes one size of each: give --shape one size");
  if (!is_sized) options.shapes = given_shapes(command.shapes);
  for (const std::string& file : program_files(command.inputs)) {
    const auto load = [&](std::vector<GivenShape>& shapes) {
      LoadedProgram program = load_program(file, shapes);
      add_values(std::move(program.values), file, options.values);
      sources.holders.push_back(std::move(program.holder));
      return std::move(program.module);
    };
    if (!is_sized) {
      sources.modules.push_back(load(options.shapes));
      continue;
    }
    AtSizes sized = at_sizes(load, choices);
    std::ranges::move(sized.modules, std::back_inserter(sources.modules));
    std::ranges::move(sized.notes, std::back_inserter(notes));
  }
  for (const SizeChoices& c : choices) {
    if (is_sized) check_shapes_are_used({{c.name, c.sizes[0], c.is_used}});
  }
  return sources;
}

// What the command gives with these options, to which the programs add sizes and first values.
Compiled compile_sources(const CompileCommand& command, CompileOptions& options, std::vector<std::string>& notes) {
  Sources sources = read_sources(command, options, notes);
  if (!command.training.is_given()) return compile(std::move(sources.modules), options);
  Program program = trained(std::move(sources.modules), command.training, options.shapes);
  return compile(program, options);
}

// The command with the largest size of what `--largest` names that keeps its limits.
CompileCommand at_largest(const CompileCommand& command, const CompileOptions& options, Progress& progress,
                          std::vector<std::string>& notes) {
  if (std::ranges::all_of(options.memory_limits, [](const MemoryLimit& limit) { return limit.bytes == kLeastBytes; })) {
    throw_error(nullptr, fmt::format("--largest {} looks for the largest that keeps --memory-limit: give one in bytes",
                                     command.largest));
  }
  for (const SizeChoices& given : size_choices(command.shapes)) {
    if (given.name == command.largest)
      throw_error(nullptr, fmt::format("--largest {0} and --shape {0} exclude each other", given.name));
  }
  CompileCommand sized = command;
  std::string& shape = sized.shapes.emplace_back();
  const LargestSize largest = largest_size([&](int64_t size) {
    shape = fmt::format("{}={}", command.largest, size);
    progress.at(0, "plans for " + shape);
    CompileOptions planning = options;
    planning.plans_only = true;
    planning.on_phase = nullptr;
    planning.pipeline = {.skip = options.pipeline.skip};
    std::vector<std::string> unheard;
    compile_sources(sized, planning, unheard);
  });
  shape = fmt::format("{}={}", command.largest, largest.size);
  notes.push_back(largest.next ? fmt::format("{} is the largest: with one more @{} takes {} at least", shape,
                                             largest.next->entry(), size_text(largest.next->bytes()))
                               : fmt::format("{} fits, and is the largest that is tried", shape));
  return sized;
}

void run_compile(const CompileCommand& command) {
  check_training(command.training);
  Output output(command);
  CompileOptions options = command.options;
  if (options.initial_state.empty()) options.initial_state = saved_state(command.inputs);
  options.name = output.name();
  options.math = math_named(command.math);
  options.freeze = freeze_of(command);
  options.weight_bits = weight_bits(command.quantize_weights);
  options.memory_limits = memory_limits(command.memory_limits);
  options.micro_batches = micro_batches(command.micro_batches);
  options.reads_code = command.explain == "contraction";
  options.pipeline.print = [](const std::string& text) { fmt::print("{}", text); };
  std::vector<std::string> notes;
  const Compiled compiled = [&] {
    Progress progress;
    options.on_phase = [&](const std::string& phase) { progress.at(0, phase); };
    if (command.largest.empty()) return compile_sources(command, options, notes);
    return compile_sources(at_largest(command, options, progress, notes), options, notes);
  }();
  if (options.weight_bits > 0) check_kept_weights(compiled.weight_notes);
  if (!command.explain.empty()) fmt::print("{}", explanation(compiled, command.explain));
  if (command.print_plan) {
    for (const plan::Plan& plan : compiled.plans.front()) fmt::print("{}", plan::print(plan));
  }
  const Written written = output.write(compiled);
  if (command.json) return print(compiled_json(compiled, written, notes));
  print_compiled(compiled, written);
  if (options.weight_bits > 0) fmt::print("{}", kept_weights_text(compiled.weight_notes));
  for (const std::string& note : notes) fmt::print("  {}\n", note);
  if (!compiled.spec.initial_state.empty()) {
    fmt::print("  first values of the state from {}\n",
               options.initial_state.empty() ? "the model" : options.initial_state);
  }
  if (!options.pipeline.time_passes) return;
  for (const PhaseTime& time : compiled.times) fmt::print("  {:8.3f} s  {}\n", time.seconds, time.phase);
}

}  // namespace

Command compile_command() {
  auto options = std::make_shared<CompileCommand>();
  CompileCommand& o = *options;
  PipelineOptions& pipeline = o.options.pipeline;
  Command command = {
      .name = "compile",
      .help = "Compile programs into a bundle",
      .examples =
          "  ingot compile step.mlir -o step.ingot\n"
          "  ingot compile model.onnx -o model.ingot --shape batch=1    # an ONNX model and its weights\n"
          "  ingot compile model.onnx -o model.ingot --shape batch=1,8,32    # three sizes that share weights\n"
          "  ingot compile model.onnx -o train.ingot --shape batch=32 --train cross_entropy:labels --trainable "
          "'head.*'\n"
          "  ingot compile net/ -o net.ingot          # what ingot.torch and ingot.jax save: programs and state\n"
          "  ingot compile train_step=step.mlir predict=forward.mlir -o net.ingot --target x86-64-v4,x86-64-v3\n"
          "  ingot compile net/ -o net --emit static --target aarch64    # net/net.h, net.c, net_kernels.o\n"
          "  ingot compile step.mlir -o step.ingot --memory-limit 4MiB    # or an error says what holds more\n"
          "  ingot compile model.onnx -o model.ingot --memory-limit 4MiB --largest batch    # as many rows as fit\n"
          "  ingot compile step.mlir -o step.ingot --dump-dir dump    # every stage, from the graph to assembly\n"
          "  ingot compile step.mlir -o slow.ingot --skip fuse        # what fusing brings: ingot bench both",
      .options =
          {{"inputs",
            &o.inputs,
            "[ENTRY=]FILE.mlir, FILE.onnx or FOLDER...: StableHLO text or ONNX models; entry points share state by "
            "name",
            {.required = true, .names = Names::kProgram}},
           {"-o,--output",
            &o.output,
            "the bundle to write; of --emit static a folder",
            {.required = true, .names = Names::kOutput}},
           {"--emit",
            &o.emit,
            "static: instead of a bundle a header, a C source and an object, for programs without an engine, files or "
            "an operating system; for one target",
            {.choices = {"bundle", kStatic}}},
           {"--target",
            &o.options.targets,
            loops::target_names() +
                "; several by commas, best first (default: every common row of this kind of processor)",
            {.commas = true}},
           {"--strict", &o.options.is_strict,
            "the same bits on every processor: orders of sums and NaNs are fixed, which may take a little more time"},
           {"--math",
            &o.math,
            "which sums of products may stand in place of the program's, where they are faster. exact: none. standard: "
            "convolutions by transformed tiles (Winograd) whose rounding errors are about as large, and where results "
            "are "
            "compared, as by the gradient of relu, only such as are 0 where all products are. fast: those, too "
            "(default: "
            "standard; of --strict programs exact)",
            {.choices = math_names()}},
           {"--shape",
            &o.shapes,
            "sizes that the programs leave open: batch=32, x=32x784, batch=1,8,32: an entry point for each; several by "
            "commas",
            {.commas = true}},
           {"--state", &o.options.initial_state,
            "safetensors file with first values of the state, or zeros (default: state.safetensors beside the "
            "programs)"},
           {"--freeze", &o.freeze,
            "make constants of all state that has a first value and that no entry point writes: folded, packed by the "
            "compiler, mapped from the file (default: of the weights of ONNX models)"},
           {"--no-freeze", &o.no_freeze,
            "leave the weights of ONNX models state, which can be read, loaded and trained"},
           {"--quantize-weights",
            &o.quantize_weights,
            "keep constant weights of products as integers, of which registers make floats: int8, with a scale for "
            "each "
            "channel of the result; int4, with one for each 32 along the depth",
            {.choices = {std::begin(kWeightKinds), std::end(kWeightKinds)}}},
           {"--memory-limit", &o.memory_limits,
            "[ENTRY=]BYTES, as 4MiB: what arena and scratch of one thread may take at most; least: as little as is "
            "reached; kernels run again for what would not fit, which changes no bit of any result; may be given for "
            "several entry points"},
           {"--micro-batches", &o.micro_batches,
            "[ENTRY=]NUMBER, as 4: the batch is computed in so many parts, one after the other, whose gradients are "
            "summed: the same results up to the order of sums, in less memory, where rows are proved not to depend on "
            "each other; auto: as few as --memory-limit needs, or more where that saves time (default: the batch as a "
            "whole, where a limit changes no bit)"},
           {"--largest", &o.largest,
            "batch: with the largest size that keeps --memory-limit of what the programs leave open, instead of one by "
            "--shape"},
           {"--jobs",
            &o.options.jobs,
            "threads that make machine code at once, 2 by default; what is made does not depend on them",
            {.positive = true}},
           {"--explain",
            &o.explain,
            "fuse: why ops stayed in kernels of their own; order: what lives while each step runs; contraction: "
            "how each product and convolution is blocked, packed and split, and what its machine code does beside "
            "multiplying; layout: how the tensors around "
            "convolutions lie; memory: what runs again for --memory-limit",
            {.choices = {"fuse", "layout", "order", "contraction", "memory"}}},
           {"--sign", &o.sign, "private key file, as keygen writes it: the bundle is signed by it"},
           {"--print-plan", &o.print_plan, "print the plan: steps, buffers, offsets"},
           {"--print-after",
            &pipeline.print_after,
            "passes whose result is printed; also lower, loops, plan, llvm, optimized.llvm, asm; or all",
            {.commas = true}},
           {"--skip", &pipeline.skip, "passes to leave out, to see what they bring: fuse, ...", {.commas = true}},
           {"--dump-dir", &pipeline.dump_dir,
            "folder for the graph after every pass, and for each target its lowered functions, loops, plans, LLVM IR, "
            "assembly"},
           {"--time-passes", &pipeline.time_passes, "print where the time went"},
           {"--json", &o.json, "tell what was made as one JSON object"}},
      .run = [options] { run_compile(*options); },
  };
  std::ranges::move(training_options(o.training), std::back_inserter(command.options));
  return command;
}

}  // namespace ingot
