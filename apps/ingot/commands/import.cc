// ingot import: an ONNX model as StableHLO text, and its weights as state.
#include <fmt/format.h>

#include <iostream>

#include "aot/base/error.h"
#include "aot/base/file.h"
#include "aot/graph/text/print.h"
#include "apps/ingot/command.h"
#include "apps/ingot/files/file_format.h"
#include "apps/ingot/files/sources.h"

namespace ingot {
namespace {

struct ImportCommand {
  std::string input;
  std::string output = "-";  // a file, or "-" for standard output
  std::string state;
  std::vector<std::string> shapes;
};

void run_import(const ImportCommand& command) {
  if (!program_name(command.input).is_onnx()) {
    refuse_other_formats(command.input, Wanted::kProgram);
    throw_error(nullptr, fmt::format("{}: is no ONNX model, MODEL.onnx", command.input));
  }
  std::vector<GivenShape> shapes = given_shapes(command.shapes);
  const LoadedProgram program = load_program(command.input, shapes);
  if (!command.state.empty()) write_safetensors(command.state, program.values);
  const std::string text = print(*program.module, {.locations = true});
  command.output == "-" ? void(std::cout << text) : write_file(command.output, text);
}

}  // namespace

Command import_command() {
  auto options = std::make_shared<ImportCommand>();
  ImportCommand& o = *options;
  return {
      .name = "import",
      .help = "Write an ONNX model as StableHLO text",
      .examples =
          "  ingot import model.onnx -o model.mlir --state state.safetensors   # then: ingot compile model.mlir ...\n"
          "  ingot import model.onnx --shape batch=1                           # the text, on standard output",
      .options = {{"input", &o.input, "[ENTRY=]FILE.onnx: the model", {.required = true, .names = Names::kProgram}},
                  {"-o,--output", &o.output, "where the text goes; - for standard output", {.names = Names::kOutput}},
                  {"--state", &o.state, "safetensors file to write the weights to", {.names = Names::kOutput}},
                  {"--shape",
                   &o.shapes,
                   "sizes that the model leaves open: batch=32, x=32x784; several by commas",
                   {.commas = true}}},
      .run = [options] { run_import(*options); },
  };
}

}  // namespace ingot
