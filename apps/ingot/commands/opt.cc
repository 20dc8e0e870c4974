// ingot opt: runs graph passes on StableHLO text and prints what comes out.
#include <fmt/format.h>

#include <iostream>

#include "aot/analysis/traffic.h"
#include "aot/base/file.h"
#include "aot/graph/text/print.h"
#include "aot/ops/support/build.h"
#include "aot/pipeline/passes.h"
#include "apps/ingot/command.h"
#include "apps/ingot/files/file_format.h"
#include "apps/ingot/files/sources.h"

namespace ingot {
namespace {

struct OptOptions {
  std::string input;                // a file, or "-" for standard input
  std::string output = "-";         // a file, or "-" for standard output
  std::vector<std::string> passes;  // empty: all that `ingot compile` runs
  bool locations = false;           // print loc(...)
  std::vector<std::string> shapes;  // sizes that the program leaves open
  std::string explain;              // what to explain: fuse, layout
  bool summary = false;             // kernels, values and bytes instead of text
  PipelineOptions pipeline;
};

std::vector<PassRow> rows_of(const std::vector<std::string>& names) {
  if (names.empty()) return {compile_passes().begin(), compile_passes().end()};
  std::vector<PassRow> rows;
  for (const std::string& name : names) rows.push_back(pass_named(name, "--passes"));
  return rows;
}

std::unique_ptr<Module> read_program(const std::string& input, std::vector<GivenShape>& shapes) {
  if (program_name(input).is_onnx()) return load_program(input, shapes).module;
  refuse_other_formats(input, Wanted::kProgram);
  return parse_program(read_text(input == "-" ? "/dev/stdin" : input), input);
}

void run_opt(const OptOptions& options) {
  PassContext context;
  context.shapes = given_shapes(options.shapes);
  const auto module = read_program(options.input, context.shapes);
  PipelineOptions pipeline = options.pipeline;
  pipeline.print = [](const std::string& text) { std::cerr << text; };
  run_passes(rows_of(options.passes), *module, context, pipeline);
  check_shapes_are_used(context.shapes);
  if (options.explain == "fuse") std::cerr << to_string(context.fuse_notes);
  if (options.explain == "layout") std::cerr << to_string(context.layout_notes);
  if (options.summary) {
    for (const auto& function : module->functions) std::cout << to_string(measure_traffic(*function), function->name);
  } else {
    const std::string text = print(*module, {.locations = options.locations});
    options.output == "-" ? void(std::cout << text) : write_file(options.output, text);
  }
}

}  // namespace

Command opt_command() {
  auto options = std::make_shared<OptOptions>();
  OptOptions& o = *options;
  return {
      .name = "opt",
      .help = "Run graph passes on StableHLO text and print what comes out",
      .examples =
          "  ingot opt step.mlir                                  # all passes that `ingot compile` runs\n"
          "  ingot opt step.mlir --passes=inline_calls,cse        # these passes only\n"
          "  ingot opt step.mlir --dump-dir=dump --time-passes    # one file for each pass, and times\n"
          "  ingot opt step.mlir --explain=fuse --summary         # why kernels are as many as they are",
      .options =
          {{"input", &o.input, "the program; - for standard input", {.required = true, .names = Names::kProgram}},
           {"-o,--output", &o.output, "where the text goes; - for standard output", {.names = Names::kOutput}},
           {"--passes", &o.passes, "passes to run, in order", {.commas = true}},
           {"--shape", &o.shapes, "sizes that the program leaves open: batch=32, x=32x784", {.commas = true}},
           {"--stop-after", &o.pipeline.stop_after, "stop after this pass"},
           {"--print-after",
            &o.pipeline.print_after,
            "print the program after these passes (or all)",
            {.commas = true}},
           {"--skip", &o.pipeline.skip, "leave these passes out", {.commas = true}},
           {"--dump-dir", &o.pipeline.dump_dir, "write the program after each pass into this folder"},
           {"--time-passes", &o.pipeline.time_passes, "print how long each pass took"},
           {"--locations", &o.locations, "print source locations"},
           {"--summary", &o.summary, "print kernels, bytes and flops instead of the program"},
           {"--explain",
            &o.explain,
            "fuse: why ops stayed in kernels of their own; layout: how tensors lie",
            {.choices = {"fuse", "layout"}}}},
      .run = [options] { run_opt(*options); },
  };
}

}  // namespace ingot
