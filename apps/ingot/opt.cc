// ingot opt: runs graph passes on StableHLO text and prints what comes out.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>

#include "aot/graph/parse.h"
#include "aot/graph/print.h"
#include "aot/ops/build.h"
#include "aot/passes/traffic.h"
#include "aot/pipeline/passes.h"
#include "apps/ingot/command.h"

namespace ingot {
namespace {

struct OptOptions {
  std::string input;                // a file, or "-" for standard input
  std::string output = "-";         // a file, or "-" for standard output
  std::vector<std::string> passes;  // empty: all that `ingot compile` runs
  bool locations = false;           // print loc(...)
  bool explain_fuse = false;        // why ops stayed in kernels of their own
  bool summary = false;             // kernels, values and bytes instead of text
  PipelineOptions pipeline;
};

std::string read_all(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_error(nullptr, fmt::format("cannot read {}; is the path right?", path));
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_all(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text;
    return;
  }
  std::ofstream out(path, std::ios::binary);
  if (!(out << text)) throw_error(nullptr, fmt::format("cannot write {}", path));
}

std::vector<PassRow> rows_of(const std::vector<std::string>& names) {
  if (names.empty()) return {compile_passes().begin(), compile_passes().end()};
  std::vector<PassRow> rows;
  for (const std::string& name : names) rows.push_back(pass_named(name, "--passes"));
  return rows;
}

std::string notes_of(const std::vector<FuseNote>& notes) {
  std::string text;
  for (const FuseNote& note : notes) {
    const std::string place = describe(note.location);
    text += fmt::format("{}{}: {} stays out of the kernel of {}: {}\n", place, place.empty() ? "fuse" : ": fuse",
                        note.producer, note.consumer, note.reason);
  }
  return text;
}

void run_opt(const OptOptions& options) {
  const auto module = parse_module(read_all(options.input), options.input, all_ops());
  PassContext context(all_ops());
  PipelineOptions pipeline = options.pipeline;
  pipeline.print = [](const std::string& text) { std::cerr << text; };
  run_passes(rows_of(options.passes), *module, context, pipeline);
  if (options.explain_fuse) std::cerr << notes_of(context.fuse_notes);
  if (options.summary) {
    for (const auto& function : module->functions) std::cout << to_string(measure_traffic(*function), function->name);
  } else {
    write_all(options.output, print(*module, {.locations = options.locations}));
  }
}

}  // namespace

void add_opt_command(CLI::App& app) {
  auto options = std::make_shared<OptOptions>();
  CLI::App* opt = app.add_subcommand("opt", "Run graph passes on StableHLO text and print what comes out");
  opt->footer(
      "Examples:\n"
      "  ingot opt step.mlir                                all passes that `ingot compile` runs\n"
      "  ingot opt step.mlir --passes=inline_calls,cse      these passes only\n"
      "  ingot opt step.mlir --dump-dir=dump --time-passes  one file for each pass, and times\n"
      "  ingot opt step.mlir --explain=fuse --summary       why kernels are as many as they are");
  opt->add_option("input", options->input, "The program; - for standard input")->required();
  opt->add_option("-o,--output", options->output, "Where the text goes; - for standard output");
  opt->add_option("--passes", options->passes, "Passes to run, in order")->delimiter(',');
  opt->add_option("--stop-after", options->pipeline.stop_after, "Stop after this pass");
  opt->add_option("--print-after", options->pipeline.print_after, "Print the program after these passes (or all)")
      ->delimiter(',');
  opt->add_option("--skip", options->pipeline.skip, "Leave these passes out")->delimiter(',');
  opt->add_option("--dump-dir", options->pipeline.dump_dir, "Write the program after each pass into this folder");
  opt->add_flag("--time-passes", options->pipeline.time_passes, "Print how long each pass took");
  opt->add_flag("--locations", options->locations, "Print source locations");
  opt->add_flag("--summary", options->summary, "Print kernels and bytes instead of the program");
  opt->add_option("--explain", "fuse: print why ops stayed in kernels of their own")
      ->check(CLI::IsMember({"fuse"}))
      ->each([options](const std::string&) { options->explain_fuse = true; });
  opt->callback([options] { run_opt(*options); });
}

}  // namespace ingot
